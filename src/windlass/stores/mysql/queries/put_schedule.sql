-- Adds a schedule, or changes what is not the store's own of one that there is.
-- Arguments by position: name, definition, and of a new one: paused (1 or 0), last, job.
INSERT INTO windlass_schedules (name, definition, paused, last, job) VALUES (?1, ?2, ?3, ?4, ?5)
ON DUPLICATE KEY UPDATE definition = ?2
