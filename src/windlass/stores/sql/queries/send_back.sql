-- Lets an active job wait again. NULL leaves due, place or error as they are.
-- Arguments by position: state, due, place, attempt, error, id.
UPDATE windlass_jobs
SET state = ?, due = coalesce(?, due), place = coalesce(?, place), attempt = ?,
    error = coalesce(?, error), lease_until = NULL
WHERE id = ?
