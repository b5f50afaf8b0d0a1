-- Adds to a count. Arguments by position: queue, state, number (may be negative).
INSERT INTO windlass_counts (queue, state, number) VALUES (?, ?, ?)
ON CONFLICT (queue, state) DO UPDATE SET number = windlass_counts.number + excluded.number
