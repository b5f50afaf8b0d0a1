"""What is told of each step of a job, and who listens: logs, metrics, traces."""
