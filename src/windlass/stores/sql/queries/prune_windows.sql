-- Drops windows that are over. Arguments: now, limit.
DELETE FROM windlass_windows WHERE unique_key IN (
  SELECT unique_key FROM windlass_windows WHERE until <= :now ORDER BY until LIMIT :limit
)
