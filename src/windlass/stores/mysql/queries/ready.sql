-- Whether a queue that is not paused has pending jobs, and when its next one is due.
-- Arguments: queues (JSON). Returns one row: pending (0 or 1), next due times or NULL.
SELECT
  MAX(EXISTS (SELECT 1 FROM windlass_jobs WHERE state = 'pending' AND line = wanted.queue)),
  MIN((
    SELECT step FROM windlass_jobs FORCE INDEX (windlass_jobs_order)
    WHERE state = 'scheduled' AND line = wanted.queue ORDER BY step LIMIT 1
  )),
  MIN((
    SELECT step FROM windlass_jobs FORCE INDEX (windlass_jobs_order)
    WHERE state = 'retry' AND line = wanted.queue ORDER BY step LIMIT 1
  ))
FROM JSON_TABLE(
  :queues, '$[*]' COLUMNS (queue VARCHAR(128) CHARACTER SET utf8mb4 PATH '$')
) AS wanted
WHERE wanted.queue NOT IN (SELECT queue FROM windlass_paused)
