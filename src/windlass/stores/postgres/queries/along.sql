-- The jobs that come along with the first of a lane. Arguments: queue, lane, limit.
-- Returns: the claim columns, state.
SELECT 0, id, spec, rank, created_at, due, attempt, unique_key, error, checkpoint, awaits, mail, lost,
       state
FROM windlass_jobs
WHERE slot = 0 AND queue = :queue::text AND lane = :lane::text
ORDER BY place
LIMIT :limit::bigint
