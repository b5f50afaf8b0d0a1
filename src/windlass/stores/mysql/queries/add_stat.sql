-- Adds to a count of a bucket. Arguments by position: queue, step, at, name, number, until.
INSERT INTO windlass_stats (queue, step, at, name, number, until)
VALUES /*each*/(?, ?, ?, ?, ?, ?)/*each*/
ON DUPLICATE KEY UPDATE number = windlass_stats.number + VALUES(number)
