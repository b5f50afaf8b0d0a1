-- Which of these queues have pending jobs, or jobs that wait for their time, and when the next of
-- those are due. Arguments: queues (JSON). Returns: queue, pending (1 or 0), two times or NULL.
SELECT queue,
  EXISTS (
    SELECT 1 FROM windlass_jobs FORCE INDEX (windlass_jobs_order)
    WHERE state = 'pending' AND line = wanted.queue
  ) AS pending,
  (
    SELECT step FROM windlass_jobs FORCE INDEX (windlass_jobs_order)
    WHERE state = 'scheduled' AND line = wanted.queue ORDER BY step LIMIT 1
  ) AS scheduled,
  (
    SELECT step FROM windlass_jobs FORCE INDEX (windlass_jobs_order)
    WHERE state = 'retry' AND line = wanted.queue ORDER BY step LIMIT 1
  ) AS retry
FROM JSON_TABLE(
  :queues, '$[*]' COLUMNS (queue VARCHAR(128) CHARACTER SET utf8mb4 PATH '$')
) AS wanted
HAVING pending OR scheduled IS NOT NULL OR retry IS NOT NULL
