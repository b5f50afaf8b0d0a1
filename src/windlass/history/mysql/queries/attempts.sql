-- The last attempts of a job, newest first. Arguments: id, limit. Returns: as add_attempt.sql.
SELECT CONVERT(job USING utf8mb4), fence, ended_at, attempt, state, started_at, worker, error
FROM windlass_attempts
WHERE job = :id ORDER BY ended_at DESC, fence DESC LIMIT :limit
