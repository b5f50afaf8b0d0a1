-- Keys that windows of these jobs hold, as this transaction sees them, without a lock.
-- Arguments: ids. Returns: unique_key.
SELECT CONVERT(unique_key USING utf8mb4) FROM windlass_windows FORCE INDEX (windlass_windows_job)
WHERE job IN :ids
