-- Who holds unique keys. Arguments: keys (JSON). Returns: unique_key, id.
SELECT unique_key, id FROM windlass_jobs
WHERE unique_key IN (SELECT value FROM json_each(:keys))
  AND unique_key IS NOT NULL AND finished_at IS NULL
