-- Lets jobs hold unique keys for a time, and no longer by themselves: see the migration.
-- Arguments by position, as arrays: unique_key, job, until. The line feed: no job has such an id.
WITH given AS MATERIALIZED (
  SELECT * FROM unnest(?::text[], ?::text[], ?::bigint[]) AS g (unique_key, job, until)
), bare AS (
  UPDATE windlass_jobs AS j SET unique_key = NULL FROM given AS g
  WHERE j.id = g.job AND j.unique_key IS NOT NULL
  RETURNING j.id
)
INSERT INTO windlass_jobs
  (id, spec, queue, state, rank, place, created_at, due, keep, unique_key, worker)
SELECT chr(10) || unique_key, '', '', 'window', 0, 0, 0, until, 0, unique_key, job FROM given
WHERE (SELECT count(*) FROM bare) >= 0
