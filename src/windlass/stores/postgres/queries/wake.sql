-- Lets parked jobs go on, and wakes who may wait; NULL leaves the place.
-- Arguments by position, as arrays: due, place, id.
WITH given AS MATERIALIZED (
  SELECT * FROM unnest(?::bigint[], ?::bigint[], ?::text[]) AS g (due, place, id)
), woken AS (
  UPDATE windlass_jobs AS j
  SET state = 'pending', due = g.due, place = coalesce(g.place, j.place), awaits = NULL
  FROM given AS g WHERE j.id = g.id
  RETURNING j.queue
)
SELECT pg_notify('windlass', queue) FROM (SELECT DISTINCT queue FROM woken) AS news
