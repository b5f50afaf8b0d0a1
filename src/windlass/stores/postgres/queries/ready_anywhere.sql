-- Whether any queue that is not paused has pending jobs, and when the next of its jobs is due.
-- Goes from queue to queue by the indexes, as none has the jobs of all of them in order.
-- Arguments: now (NULL: the server's clock).
-- Returns one row: pending or not, and milliseconds until the next due time or NULL.
WITH RECURSIVE busy (queue) AS (
  SELECT '' COLLATE "C"
  UNION ALL
  SELECT least(
    (SELECT j.queue FROM windlass_jobs AS j WHERE j.state = 'pending' AND j.queue > b.queue
     ORDER BY j.queue LIMIT 1),
    (SELECT j.queue FROM windlass_jobs AS j WHERE j.state = 'scheduled' AND j.queue > b.queue
     ORDER BY j.queue LIMIT 1),
    (SELECT j.queue FROM windlass_jobs AS j WHERE j.state = 'retry' AND j.queue > b.queue
     ORDER BY j.queue LIMIT 1)
  ) FROM busy AS b WHERE b.queue IS NOT NULL
)
SELECT
  coalesce(bool_or(EXISTS (
    SELECT FROM windlass_jobs AS j WHERE j.state = 'pending' AND j.queue = b.queue
  )), false),
  min(least(
    (SELECT min(j.due) FROM windlass_jobs AS j WHERE j.state = 'scheduled' AND j.queue = b.queue),
    (SELECT min(j.due) FROM windlass_jobs AS j WHERE j.state = 'retry' AND j.queue = b.queue)
  )) - coalesce(:now::bigint, floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint)
FROM busy AS b
WHERE b.queue <> '' AND NOT EXISTS (SELECT FROM windlass_paused AS p WHERE p.queue = b.queue)
