-- Drops counts of buckets that were kept long enough. Arguments: now, limit. Returns: 1 for each.
DELETE FROM windlass_stats WHERE (queue, step, at, name) IN (
  SELECT queue, step, at, name FROM windlass_stats WHERE until < :now ORDER BY until LIMIT :limit
)
RETURNING 1
