-- Resumes a queue, and wakes who may wait. Arguments: queue.
WITH resumed AS (
  DELETE FROM windlass_paused WHERE queue = :queue::text RETURNING queue
)
SELECT pg_notify('windlass', queue) FROM resumed
