-- The jobs that come along with the first of a lane. Arguments: queue, lane, limit.
-- Returns: the claim columns, state.
SELECT /*claim_columns*/, state FROM windlass_jobs
WHERE slot = 0 AND queue = :queue AND lane = :lane
ORDER BY place
LIMIT :limit
