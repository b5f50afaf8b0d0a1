-- Schedules jobs that wait in lanes, or blocks them again, and wakes who may wait for less long.
-- Arguments by position, as arrays: state, due, id.
WITH given AS MATERIALIZED (
  SELECT * FROM unnest(?::text[], ?::bigint[], ?::text[]) AS g (state, due, id)
), ticket AS (
  UPDATE windlass_jobs AS j SET state = g.state, due = g.due FROM given AS g WHERE j.id = g.id
  RETURNING j.queue, j.state
)
SELECT pg_notify('windlass', queue)
FROM (SELECT DISTINCT queue FROM ticket WHERE state = 'scheduled') AS news
