-- Gives waiting jobs another time, and wakes who may wait; NULL leaves the place.
-- Arguments by position, as arrays: state, due, place, id.
WITH given AS MATERIALIZED (
  SELECT * FROM unnest(?::text[], ?::bigint[], ?::bigint[], ?::text[])
    AS g (state, due, place, id)
), moved AS (
  UPDATE windlass_jobs AS j
  SET state = g.state, due = g.due, place = coalesce(g.place, j.place)
  FROM given AS g WHERE j.id = g.id
  RETURNING j.queue
)
SELECT pg_notify('windlass', queue) FROM (SELECT DISTINCT queue FROM moved) AS news
