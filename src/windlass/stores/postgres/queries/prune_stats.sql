-- Drops counts of buckets that were kept long enough, but for those that another transaction has.
-- Arguments: now, limit. Returns: how many.
WITH past AS MATERIALIZED (
  SELECT queue, step, at, name FROM windlass_stats WHERE until < :now::bigint
  ORDER BY until LIMIT :limit::bigint FOR UPDATE SKIP LOCKED
), gone AS (
  DELETE FROM windlass_stats AS s USING past AS p
  WHERE s.queue = p.queue AND s.step = p.step AND s.at = p.at AND s.name = p.name
  RETURNING 1
)
SELECT count(*) FROM gone
