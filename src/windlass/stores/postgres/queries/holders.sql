-- Who holds unique keys, but for those who do so for a time. Arguments: keys (JSON).
-- Returns: unique_key, id.
SELECT unique_key, id FROM windlass_jobs
WHERE unique_key = ANY (ARRAY(SELECT json_array_elements_text(:keys::json)))
  AND unique_key IS NOT NULL AND state <> 'window'
