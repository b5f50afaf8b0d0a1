-- Lets a finished job wait again; NULL leaves its place.
-- Arguments by position: state, due, place, id.
UPDATE windlass_jobs
SET state = ?, due = ?, place = coalesce(?, place), attempt = 0, lost = 0, finished_at = NULL,
    expires_at = NULL
WHERE id = ?
