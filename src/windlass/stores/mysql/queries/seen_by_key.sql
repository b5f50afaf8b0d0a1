-- Holders of unique keys as this transaction sees them, without a lock. Arguments: keys.
-- Returns: number.
SELECT number FROM windlass_jobs FORCE INDEX (windlass_jobs_unique)
WHERE unique_key IN :keys
