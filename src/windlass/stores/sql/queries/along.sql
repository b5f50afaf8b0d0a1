-- The jobs that come along with the first of a lane. Arguments: queue, lane, limit, room (unused).
-- Returns: the claim columns, the size of the spec, state.
SELECT /*claim_columns*/, length(spec), state FROM windlass_jobs
WHERE slot = 0 AND queue = :queue AND lane = :lane
ORDER BY place
LIMIT :limit
