-- Drops counts of nothing, of queues that are no more for one, unless somebody adds counts up.
WITH turn AS MATERIALIZED (
  SELECT pg_try_advisory_xact_lock('windlass_deltas'::regclass::oid::bigint) AS mine
)
DELETE FROM windlass_counts WHERE number = 0 AND queue <> '' AND (SELECT mine FROM turn)
