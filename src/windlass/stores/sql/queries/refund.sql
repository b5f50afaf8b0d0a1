-- Takes an attempt back that does not count. Arguments by position: id.
UPDATE windlass_jobs SET attempt = attempt - 1 WHERE id = ?
