-- Lets jobs wait for others, which are marked: that is how the one statement that completes them
-- knows. Arguments by position, as arrays: parent, serial, child, anyway (1 or 0).
WITH given AS MATERIALIZED (
  SELECT * FROM unnest(?::text[], ?::bigint[], ?::text[], ?::integer[])
    AS g (parent, serial, child, anyway)
), marked AS (
  UPDATE windlass_jobs SET awaited = true
  WHERE id = ANY (ARRAY(SELECT DISTINCT parent FROM given)) AND NOT awaited
)
INSERT INTO windlass_edges (parent, serial, child, anyway)
SELECT parent, serial, child, anyway FROM given
ON CONFLICT (child, parent) DO NOTHING
