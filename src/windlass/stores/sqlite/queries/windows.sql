-- Unique keys that are held for a time that is not over. Arguments: keys (JSON), now.
-- Returns: unique_key, job.
SELECT unique_key, job FROM windlass_windows
WHERE unique_key IN (SELECT value FROM json_each(:keys)) AND until > :now
