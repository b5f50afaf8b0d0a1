-- The ticket of a lane, if it waits there. Arguments: queue, lane, id. Returns: id, state, due.
SELECT id, state, due FROM windlass_jobs
WHERE slot = 0 AND queue = :queue AND lane = :lane AND id = :id
