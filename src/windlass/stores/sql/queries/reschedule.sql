-- Gives a waiting job another time; NULL leaves its place.
-- Arguments by position: state, due, place, id.
UPDATE windlass_jobs SET state = ?, due = ?, place = coalesce(?, place) WHERE id = ?
