-- Lets active jobs wait again, and wakes who may wait. NULL leaves due, place or error as it is.
-- Arguments by position, as arrays: state, due, place, attempt, error, whether to leave awaits as
-- it is (1 or 0), awaits, id.
WITH given AS MATERIALIZED (
  SELECT * FROM unnest(
    ?::text[], ?::bigint[], ?::bigint[], ?::integer[], ?::text[], ?::integer[], ?::text[], ?::text[]
  ) AS g (state, due, place, attempt, error, keeps, awaits, id)
), back AS (
  UPDATE windlass_jobs AS j
  SET state = g.state, due = coalesce(g.due, j.due), place = coalesce(g.place, j.place),
      attempt = g.attempt, error = coalesce(g.error, j.error),
      awaits = CASE g.keeps WHEN 1 THEN j.awaits ELSE g.awaits END, lease_until = NULL
  FROM given AS g WHERE j.id = g.id
  RETURNING j.queue
)
SELECT pg_notify('windlass', queue) FROM (SELECT DISTINCT queue FROM back) AS news
