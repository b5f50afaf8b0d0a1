-- Reserves a place at the end of the line and counts the job that is to stand there.
-- Arguments: queue, state.
INSERT INTO windlass_counts (queue, state, number) VALUES ('', 'place', 1), (:queue, :state, 1)
ON CONFLICT (queue, state) DO UPDATE SET number = windlass_counts.number + 1
