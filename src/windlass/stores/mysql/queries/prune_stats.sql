-- Drops counts of buckets that were kept long enough. Arguments: now, limit. Returns: how many.
DELETE FROM windlass_stats WHERE until < :now ORDER BY until LIMIT :limit;
SELECT ROW_COUNT()
