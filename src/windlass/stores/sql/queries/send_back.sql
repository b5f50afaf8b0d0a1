-- Lets an active job wait again. NULL leaves due, place or error as they are.
-- Arguments by position: state, due, place, attempt, error, whether awaits stays as it is
-- (1 or 0), awaits, id.
UPDATE windlass_jobs
SET state = ?, due = coalesce(?, due), place = coalesce(?, place), attempt = ?,
    error = coalesce(?, error), awaits = CASE ? WHEN 1 THEN awaits ELSE ? END,
    lease_until = NULL
WHERE id = ?
