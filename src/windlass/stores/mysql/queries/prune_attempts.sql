-- Drops attempts that were kept long enough. Arguments: now, limit. Returns: how many.
DELETE FROM windlass_logs WHERE until <= :now ORDER BY until LIMIT :limit;
SELECT ROW_COUNT()
