-- Lets waiting jobs be others, as if they had come now, and wakes who may wait; NULL leaves the
-- place. Arguments by position, as arrays: as `to_replace` in rows.py.
WITH given AS MATERIALIZED (
  SELECT * FROM unnest(
    ?::text[], ?::bytea[], ?::bigint[], ?::bigint[], ?::bigint[], ?::bigint[], ?::bigint[],
    ?::text[], ?::text[]
  ) AS g (state, spec, rank, place, created_at, due, keep, unique_key, id)
), replaced AS (
  UPDATE windlass_jobs AS j
  SET state = g.state, spec = g.spec, rank = g.rank, place = coalesce(g.place, j.place),
      created_at = g.created_at, due = g.due, keep = g.keep, unique_key = g.unique_key,
      brief = false, attempt = 0, fence = 0, worker = NULL, started_at = NULL, result = NULL,
      error = NULL, progress = NULL, checkpoint = NULL, awaits = NULL, mail = NULL,
      lane = NULL, slot = NULL, grp = NULL, lost = 0
  FROM given AS g WHERE j.id = g.id
  RETURNING j.queue, j.state
)
SELECT pg_notify('windlass', queue)
FROM (SELECT DISTINCT queue FROM replaced WHERE state <> 'blocked') AS news
