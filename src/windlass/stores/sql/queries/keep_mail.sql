-- Keeps the signals that came for a live job. Arguments by position: mail, id.
UPDATE windlass_jobs SET mail = ? WHERE id = ?
