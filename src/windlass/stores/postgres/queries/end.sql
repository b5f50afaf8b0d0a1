-- Ends jobs: they leave the live ones. A former error stays unless there is a new one.
-- Arguments by position, as arrays: as `to_end` in rows.py.
WITH given AS MATERIALIZED (
  SELECT * FROM unnest(
    ?::text[], ?::bigint[], ?::bigint[], ?::text[], ?::bytea[], ?::integer[], ?::integer[], ?::text[]
  ) AS g (state, finished_at, expires_at, error, result, keeps, keeps_mail, id)
), gone AS (
  DELETE FROM windlass_jobs AS j USING given AS g WHERE j.id = g.id
  RETURNING j.id, j.spec, j.queue, g.state, j.rank, j.place, j.created_at, j.started_at, j.due,
            j.keep, j.unique_key, j.brief, j.attempt, j.fence, j.worker,
            coalesce(g.error, j.error) AS error, j.progress, g.result,
            CASE g.keeps WHEN 1 THEN j.checkpoint END AS checkpoint,
            CASE g.keeps_mail WHEN 1 THEN j.mail END AS mail, g.finished_at, g.expires_at,
            j.lost
)
INSERT INTO windlass_finished
  (id, spec, queue, state, rank, place, created_at, started_at, due, keep, unique_key, brief,
   attempt, fence, worker, error, progress, result, checkpoint, mail, finished_at, expires_at,
   lost)
SELECT * FROM gone
