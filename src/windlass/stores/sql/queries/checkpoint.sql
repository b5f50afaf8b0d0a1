-- Keeps what an attempt leaves for the next one. Arguments by position: checkpoint, id.
UPDATE windlass_jobs SET checkpoint = ? WHERE id = ?
