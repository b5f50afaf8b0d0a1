-- The first jobs that wait for a slot of a lane, by priority. Arguments: queue, lane, limit.
-- Returns: id, state, due.
SELECT id, state, due FROM windlass_jobs
WHERE slot = 0 AND queue = :queue AND lane = :lane
ORDER BY rank, place
LIMIT :limit
