-- Lets the unique keys of jobs go when they are first claimed, of those that have these specs.
-- Arguments by position, as arrays: id, spec.
WITH given AS MATERIALIZED (
  SELECT id, spec FROM unnest(?::text[], ?::bytea[]) AS g (id, spec)
), live AS (
  UPDATE windlass_jobs AS j SET brief = true FROM given AS g
  WHERE j.id = g.id AND j.spec = g.spec
)
UPDATE windlass_finished AS f SET brief = true FROM given AS g
WHERE f.id = g.id AND f.spec = g.spec
