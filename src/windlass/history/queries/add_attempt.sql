-- Adds an attempt, unless it is there.
-- Arguments by position: as `attempt_row` in record.py; /*each*/ marks what is repeated per row.
INSERT INTO windlass_attempts
  (job, fence, ended_at, attempt, state, started_at, worker, error)
VALUES /*each*/(?, ?, ?, ?, ?, ?, ?, ?)/*each*/
ON CONFLICT DO NOTHING
