-- Unique keys that are held for a time that is not over, as this transaction sees them, without a
-- lock. Arguments: keys, now. Returns: unique_key, job.
SELECT CONVERT(unique_key USING utf8mb4), CONVERT(job USING utf8mb4)
FROM windlass_windows FORCE INDEX (PRIMARY)
WHERE unique_key IN :keys AND until > :now
