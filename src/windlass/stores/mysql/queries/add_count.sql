-- Adds to a sum. Arguments by position: queue, state, number (may be negative).
INSERT INTO windlass_counts (queue, state, number) VALUES (?1, ?2, ?3)
ON DUPLICATE KEY UPDATE number = number + ?3
