-- Takes the unique key off a live job. Arguments by position: number.
UPDATE windlass_jobs SET unique_key = NULL WHERE number = ?
