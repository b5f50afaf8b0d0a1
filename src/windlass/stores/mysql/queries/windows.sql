-- Unique keys that are held for a time that is not over. Arguments: keys, now.
-- Returns: unique_key, job. Locked: if one is being taken right now, this waits for it.
-- By its index however few rows there are: a scan would wait for those of open transactions.
SELECT CONVERT(unique_key USING utf8mb4), CONVERT(job USING utf8mb4)
FROM windlass_windows FORCE INDEX (PRIMARY)
WHERE unique_key IN :keys AND until > :now
FOR UPDATE
