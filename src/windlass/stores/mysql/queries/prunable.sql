-- Finished jobs that were kept long enough. Arguments: now, limit. Returns: id, queue, state.
SELECT CONVERT(id USING utf8mb4), CONVERT(queue USING utf8mb4), state
FROM windlass_finished FORCE INDEX (windlass_finished_expiry)
WHERE expires_at <= :now
ORDER BY expires_at
LIMIT :limit
FOR UPDATE SKIP LOCKED
