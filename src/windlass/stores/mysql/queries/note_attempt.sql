-- Keeps the record of an attempt, in the place of the one before.
-- Arguments by position: job, fence, until, record.
INSERT INTO windlass_logs (job, fence, until, record) VALUES /*each*/(?, ?, ?, ?)/*each*/
ON DUPLICATE KEY UPDATE until = VALUES(until), record = VALUES(record)
