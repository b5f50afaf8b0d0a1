-- Takes in jobs of another store, unless a live one has the id or holds the unique key, and wakes
-- who may wait. Arguments by position, as arrays: as in sql/restore.py.
WITH made AS (
  INSERT INTO windlass_jobs
    (id, spec, queue, state, rank, place, created_at, due, keep, unique_key, attempt, fence, worker,
     started_at, error, progress, checkpoint, awaits, mail, lost, awaited)
  SELECT g.*, EXISTS (SELECT FROM windlass_edges AS e WHERE e.parent = g.id) FROM unnest(
    ?::text[], ?::bytea[], ?::text[], ?::text[], ?::bigint[], ?::bigint[], ?::bigint[], ?::bigint[],
    ?::bigint[], ?::text[], ?::integer[], ?::bigint[], ?::text[], ?::bigint[], ?::text[], ?::text[],
    ?::bytea[], ?::text[], ?::bytea[], ?::integer[]
  ) AS g (id)
  ON CONFLICT DO NOTHING
  RETURNING queue, state
)
SELECT pg_notify('windlass', queue)
FROM (SELECT DISTINCT queue FROM made WHERE state <> 'blocked') AS news
