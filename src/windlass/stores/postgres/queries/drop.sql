-- Removes jobs, live or finished. Arguments by position, as an array: id.
WITH given AS MATERIALIZED (
  SELECT id FROM unnest(?::text[]) AS g (id)
), gone AS (
  DELETE FROM windlass_jobs AS j USING given AS g WHERE j.id = g.id
)
DELETE FROM windlass_finished AS f USING given AS g WHERE f.id = g.id
