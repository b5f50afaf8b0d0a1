-- Takes the unique key off a live job. Arguments by position: id.
UPDATE windlass_jobs SET unique_key = NULL WHERE id = ?
