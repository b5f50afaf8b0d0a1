-- Lets finished jobs wait again, and wakes who may wait; NULL leaves the place.
-- Arguments by position, as arrays: state, due, place, id.
WITH given AS MATERIALIZED (
  SELECT * FROM unnest(?::text[], ?::bigint[], ?::bigint[], ?::text[])
    AS g (state, due, place, id)
), gone AS (
  DELETE FROM windlass_finished AS f USING given AS g WHERE f.id = g.id
  RETURNING f.id, f.spec, f.queue, g.state, f.rank, coalesce(g.place, f.place), f.created_at,
            f.started_at, g.due, f.keep, f.unique_key, f.brief, 0, f.fence, f.worker, f.error,
            f.progress, f.result, f.checkpoint, f.mail
), back AS (
  INSERT INTO windlass_jobs
    (id, spec, queue, state, rank, place, created_at, started_at, due, keep, unique_key, brief,
     attempt, fence, worker, error, progress, result, checkpoint, mail)
  SELECT * FROM gone
  RETURNING queue
)
SELECT pg_notify('windlass', queue) FROM (SELECT DISTINCT queue FROM back) AS news
