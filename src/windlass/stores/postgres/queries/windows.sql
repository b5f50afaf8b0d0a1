-- Unique keys that are held for a time. Those whose time is over are free by it.
-- Arguments: keys (JSON), now (NULL: the server's clock). Returns: unique_key, the job that holds it.
WITH moment AS MATERIALIZED (
  SELECT coalesce(:now::bigint, floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint) AS now,
         ARRAY(SELECT json_array_elements_text(:keys::json)) AS keys
), over AS (
  DELETE FROM windlass_jobs AS j USING moment AS m
  WHERE j.unique_key = ANY (m.keys) AND j.unique_key IS NOT NULL AND j.state = 'window'
    AND j.due <= m.now
)
SELECT j.unique_key, j.worker FROM windlass_jobs AS j, moment AS m
WHERE j.unique_key = ANY (m.keys) AND j.unique_key IS NOT NULL AND j.state = 'window'
  AND j.due > m.now
