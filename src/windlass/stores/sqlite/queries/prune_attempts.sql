-- Drops attempts that were kept long enough. Arguments: now, limit. Returns: 1 for each.
DELETE FROM windlass_logs WHERE rowid IN (
  SELECT rowid FROM windlass_logs WHERE until <= :now ORDER BY until LIMIT :limit
)
RETURNING 1
