-- Adds attempts, unless they are there.
-- Arguments by position, as arrays: as `attempt_row` in record.py.
INSERT INTO windlass_attempts
  (job, fence, ended_at, attempt, state, started_at, worker, error)
SELECT * FROM unnest(
  ?::text[], ?::bigint[], ?::bigint[], ?::bigint[], ?::text[], ?::bigint[], ?::text[], ?::text[]
)
ON CONFLICT DO NOTHING
