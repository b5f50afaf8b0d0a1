-- Who holds unique keys. Arguments: keys. Returns: unique_key, id.
-- By its index however few rows there are: a scan would wait for those of open transactions.
SELECT CONVERT(unique_key USING utf8mb4), CONVERT(id USING utf8mb4)
FROM windlass_jobs FORCE INDEX (windlass_jobs_unique)
WHERE unique_key IN :keys
FOR UPDATE
