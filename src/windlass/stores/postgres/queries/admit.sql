-- Gives jobs that wait in a lane their slots, and wakes who may wait.
-- Arguments by position, as an array: id.
WITH given AS MATERIALIZED (
  SELECT id FROM unnest(?::text[]) AS g (id)
), admitted AS (
  UPDATE windlass_jobs AS j SET state = 'pending', slot = 1 FROM given AS g WHERE j.id = g.id
  RETURNING j.queue
)
SELECT pg_notify('windlass', queue) FROM (SELECT DISTINCT queue FROM admitted) AS news
