-- Adds jobs that history does not have yet; counted by the caller.
-- Arguments by position, as arrays: as `job_row` in record.py.
INSERT INTO windlass_history
  (id, task, queue, state, attempt, fence, waited, created_at, ended_at, duration, labels, error,
   record)
SELECT * FROM unnest(
  ?::text[], ?::text[], ?::text[], ?::text[], ?::bigint[], ?::bigint[], ?::bigint[], ?::bigint[],
  ?::bigint[], ?::bigint[], ?::text[], ?::text[], ?::bytea[]
)
ON CONFLICT DO NOTHING
