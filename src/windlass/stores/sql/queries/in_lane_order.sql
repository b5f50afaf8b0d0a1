-- The first jobs that wait for a slot of a lane, in the order of their coming.
-- Arguments: queue, lane, limit. Returns: id, state, due.
SELECT id, state, due FROM windlass_jobs
WHERE slot = 0 AND queue = :queue AND lane = :lane
ORDER BY place
LIMIT :limit
