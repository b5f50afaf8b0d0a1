-- Forgets the attempts of a job. Arguments by position: id.
DELETE FROM windlass_logs WHERE job = ?
