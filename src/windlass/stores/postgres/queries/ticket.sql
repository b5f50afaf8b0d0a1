-- The ticket of a lane, if it waits there. Arguments: queue, lane, id. Returns: id, state, due.
-- The CASE keeps the planner from going by an index of those that wait: their number is not known.
SELECT id, state, due FROM windlass_jobs
WHERE id = :id::text AND CASE slot WHEN 0 THEN queue = :queue::text AND lane = :lane::text END
