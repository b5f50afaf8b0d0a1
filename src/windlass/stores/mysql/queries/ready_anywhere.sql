-- Whether any queue that is not paused has pending jobs, and when the next of its jobs is due.
-- Queue by queue, as no index has the jobs of all of them in order.
-- Returns one row: pending (0 or 1), next due times or NULL.
SELECT
  MAX(EXISTS (SELECT 1 FROM windlass_jobs WHERE state = 'pending' AND line = busy.queue)),
  MIN((
    SELECT step FROM windlass_jobs FORCE INDEX (windlass_jobs_order)
    WHERE state = 'scheduled' AND line = busy.queue ORDER BY step LIMIT 1
  )),
  MIN((
    SELECT step FROM windlass_jobs FORCE INDEX (windlass_jobs_order)
    WHERE state = 'retry' AND line = busy.queue ORDER BY step LIMIT 1
  ))
FROM (
  SELECT queue FROM windlass_counts
  WHERE number > 0 AND state IN ('pending', 'scheduled', 'retry')
  UNION
  SELECT queue FROM windlass_deltas
) AS busy
WHERE busy.queue NOT IN (SELECT queue FROM windlass_paused)
