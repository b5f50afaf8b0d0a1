-- The ticket of a lane, if it waits there. Arguments: queue, lane, id. Returns: id, state, due.
SELECT CONVERT(id USING utf8mb4), state, due FROM windlass_jobs FORCE INDEX (windlass_jobs_id)
WHERE id = :id AND slot = 0 AND queue = :queue AND lane = :lane
/*current*/
