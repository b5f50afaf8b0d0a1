-- Lets a parked job go on; NULL leaves its place. Arguments by position: due, place, id.
UPDATE windlass_jobs
SET state = 'pending', due = ?, place = coalesce(?, place), awaits = NULL
WHERE id = ?
