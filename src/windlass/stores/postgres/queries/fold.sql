-- Adds deltas to the counts they belong to, unless somebody is at it. Arguments: limit.
-- Returns: how many deltas it was.
WITH turn AS MATERIALIZED (
  SELECT pg_try_advisory_xact_lock('windlass_deltas'::regclass::oid::bigint) AS mine
), taken AS (
  DELETE FROM windlass_deltas WHERE ctid = ANY (ARRAY(
    SELECT ctid FROM windlass_deltas WHERE (SELECT mine FROM turn)
    LIMIT :limit::bigint FOR UPDATE SKIP LOCKED
  ))
  RETURNING queue, state, number
), folded AS (
  INSERT INTO windlass_counts AS c (queue, state, number)
  SELECT queue, state, sum(number)::bigint FROM taken GROUP BY queue, state
  ORDER BY queue, state
  ON CONFLICT (queue, state) DO UPDATE SET number = c.number + excluded.number
)
SELECT count(*) FROM taken
