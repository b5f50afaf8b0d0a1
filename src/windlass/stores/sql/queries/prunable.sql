-- Finished jobs that were kept long enough. Arguments: now, limit. Returns: id, queue, state.
SELECT id, queue, state FROM windlass_jobs
WHERE expires_at IS NOT NULL AND expires_at <= :now
ORDER BY expires_at
LIMIT :limit
