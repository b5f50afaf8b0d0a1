-- Completes those jobs that are still held: they leave the live ones, and are kept or not. None if
-- one of them has a slot of a lane, which has to be settled.
-- Arguments: ids, fences, results (arrays, a job's values at the same place; one fence can stand
-- for all), now (NULL: the server's clock),
-- alone (whether this is all: to look for slots, and to note what is owed to dependents), patience
-- (how long to wait for a job that another transaction has: then all of this is an error).
-- Returns one row: how many were held, their ids unless it was all of them, the ids of those
-- that others wait for, or NULL, and whether one has a slot.
-- The CASE keeps the planner from going by an index of active jobs: their number is not known.
WITH moment AS MATERIALIZED (
  SELECT coalesce(:now::bigint, floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint) AS now
), hurried AS MATERIALIZED (
  SELECT set_config('lock_timeout', :patience::text, true) AS patience
), given AS MATERIALIZED (
  SELECT id, coalesce(fence, (:fences::bigint[])[1]) AS fence, result
  FROM unnest(:ids::text[], :fences::bigint[], :results::bytea[]) AS g (id, fence, result)
  WHERE (SELECT patience FROM hurried) IS NOT NULL
), laned AS MATERIALIZED (
  SELECT CASE WHEN :alone::boolean AND EXISTS (SELECT FROM windlass_lanes) THEN EXISTS (
    SELECT FROM windlass_jobs AS j, given AS g WHERE j.id = g.id AND j.slot IS NOT NULL
  ) ELSE false END AS found
), gone AS (
  DELETE FROM windlass_jobs AS j USING given AS g
  WHERE j.id = g.id AND CASE j.state WHEN 'active' THEN j.fence END = g.fence
    AND NOT (SELECT found FROM laned)
  RETURNING j.id, j.spec, j.queue, j.rank, j.place, j.created_at, j.started_at, j.due, j.keep,
            j.unique_key, j.attempt, j.fence, j.worker, j.error, j.progress, g.result, j.awaited
), kept AS (
  INSERT INTO windlass_finished
    (id, spec, queue, state, rank, place, created_at, started_at, due, keep, unique_key, attempt,
     fence, worker, error, progress, result, finished_at, expires_at)
  SELECT g.id, g.spec, g.queue, 'completed', g.rank, g.place, g.created_at, g.started_at, g.due,
         g.keep, g.unique_key, g.attempt, g.fence, g.worker, g.error, g.progress, g.result, m.now,
         m.now + g.keep
  FROM gone AS g, moment AS m
  WHERE g.keep > 0
), noted AS (
  INSERT INTO windlass_journal
    (at, ran, id, spec, queue, state, rank, place, created_at, started_at, due, unique_key, attempt,
     fence, worker, error, progress, result, finished_at)
  SELECT m.now, 1, g.id, g.spec, g.queue, 'completed', g.rank, g.place, g.created_at, g.started_at,
         g.due, g.unique_key, g.attempt, g.fence, g.worker, g.error, g.progress, g.result, m.now
  FROM gone AS g, moment AS m
  WHERE (SELECT number FROM windlass_counts WHERE queue = '' AND state = 'journal') = 1
), tallied AS (
  INSERT INTO windlass_deltas (queue, state, number)
  SELECT queue, state, number FROM (
    SELECT queue, 'active' AS state, -count(*) AS number FROM gone GROUP BY queue
    UNION ALL
    SELECT queue, 'completed', count(*) FROM gone WHERE keep > 0 GROUP BY queue
  ) AS moved
), owing AS (
  INSERT INTO windlass_owed (parent, until)
  SELECT id, nextval('windlass_places') << 20 FROM gone WHERE awaited AND :alone::boolean
)
SELECT count(*),
       CASE WHEN count(*) < cardinality(:ids::text[]) THEN ARRAY(SELECT id FROM gone) END,
       array_agg(id) FILTER (WHERE awaited),
       (SELECT found FROM laned)
FROM gone
