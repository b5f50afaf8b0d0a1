-- Drops the attempts of a job that is not there. Arguments by position: id, id.
DELETE FROM windlass_attempts
WHERE job = ? AND NOT EXISTS (SELECT 1 FROM windlass_history WHERE id = ?)
