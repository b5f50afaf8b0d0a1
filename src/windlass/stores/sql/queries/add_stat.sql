-- Adds to a count of a bucket. Arguments by position: queue, step, at, name, number, until.
INSERT INTO windlass_stats (queue, step, at, name, number, until) VALUES (?, ?, ?, ?, ?, ?)
ON CONFLICT (queue, step, at, name) DO UPDATE
SET number = windlass_stats.number + excluded.number
