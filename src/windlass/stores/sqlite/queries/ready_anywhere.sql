-- Whether any queue that is not paused has pending jobs, and when the next of its jobs is due.
-- Queue by queue, as no index has the jobs of all of them in order.
-- Returns one row: pending (0 or 1), next due time or NULL.
SELECT
  max(EXISTS (SELECT 1 FROM windlass_jobs WHERE state = 'pending' AND queue = busy.queue)),
  min((
    SELECT min(due) FROM windlass_jobs WHERE state = 'scheduled' AND queue = busy.queue
  )),
  min((
    SELECT min(due) FROM windlass_jobs WHERE state = 'retry' AND queue = busy.queue
  ))
FROM (
  SELECT DISTINCT queue FROM windlass_counts
  WHERE number > 0 AND state IN ('pending', 'scheduled', 'retry')
) AS busy
WHERE busy.queue NOT IN (SELECT queue FROM windlass_paused)
