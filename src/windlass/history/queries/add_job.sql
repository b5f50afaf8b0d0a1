-- Adds a job that history does not have yet; counted by the caller.
-- Arguments by position: as `job_row` in record.py; /*each*/ marks what is repeated per row.
INSERT INTO windlass_history
  (id, task, queue, state, attempt, fence, waited, created_at, ended_at, duration, labels, error,
   record)
VALUES /*each*/(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)/*each*/
ON CONFLICT DO NOTHING
