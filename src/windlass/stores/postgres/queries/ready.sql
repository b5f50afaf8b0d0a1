-- Whether a queue that is not paused has pending jobs, and when its next one is due.
-- Arguments: queues (array), now (NULL: the server's clock).
-- Returns one row: pending or not, and milliseconds until the next due time or NULL.
SELECT
  coalesce(bool_or(EXISTS (
    SELECT FROM windlass_jobs AS j WHERE j.state = 'pending' AND j.queue = w.queue
  )), false),
  min(least(
    (SELECT min(j.due) FROM windlass_jobs AS j WHERE j.state = 'scheduled' AND j.queue = w.queue),
    (SELECT min(j.due) FROM windlass_jobs AS j WHERE j.state = 'retry' AND j.queue = w.queue)
  )) - coalesce(:now::bigint, floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint)
FROM unnest(:queues::text[]) AS w (queue)
WHERE NOT EXISTS (SELECT FROM windlass_paused AS p WHERE p.queue = w.queue)
