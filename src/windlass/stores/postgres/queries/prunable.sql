-- Finished jobs that were kept long enough, but for those that another transaction has.
-- Arguments: now, limit. Returns: id, queue, state.
SELECT id, queue, state FROM windlass_finished
WHERE expires_at IS NOT NULL AND expires_at <= :now
ORDER BY expires_at
LIMIT :limit
FOR UPDATE SKIP LOCKED
