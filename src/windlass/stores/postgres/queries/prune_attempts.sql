-- Drops attempts that were kept long enough, but for those that another transaction has.
-- Arguments: now, limit. Returns: how many.
WITH past AS MATERIALIZED (
  SELECT job, fence FROM windlass_logs WHERE until <= :now::bigint
  ORDER BY until LIMIT :limit::bigint FOR UPDATE SKIP LOCKED
), gone AS (
  DELETE FROM windlass_logs AS a USING past AS p WHERE a.job = p.job AND a.fence = p.fence
  RETURNING 1
)
SELECT count(*) FROM gone
