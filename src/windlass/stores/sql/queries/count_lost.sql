-- Notes how many workers were lost with a job. Arguments by position: lost, id.
UPDATE windlass_jobs SET lost = ? WHERE id = ?
