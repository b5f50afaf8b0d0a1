-- Adds the result of a job just finished. Arguments by position: result, number.
UPDATE windlass_jobs SET result = ? WHERE number = ?
