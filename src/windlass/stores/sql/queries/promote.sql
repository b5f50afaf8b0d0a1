-- Makes a due job pending. Arguments by position: place, id.
UPDATE windlass_jobs SET state = 'pending', place = ? WHERE id = ?
