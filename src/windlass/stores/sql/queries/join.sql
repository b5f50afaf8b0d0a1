-- Lets a job be in a lane or a group. NULL leaves its state or its place as it is.
-- Arguments by position: lane, grp, state, slot (1 has one, 0 waits for one, or NULL), place, id.
UPDATE windlass_jobs
SET lane = ?, grp = ?, state = coalesce(?, state), slot = ?, place = coalesce(?, place)
WHERE id = ?
