-- Gives a waiting job another priority; NULL leaves its place. Arguments by position: rank, place, id.
UPDATE windlass_jobs SET rank = ?, place = coalesce(?, place) WHERE id = ?
