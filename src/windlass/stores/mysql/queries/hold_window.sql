-- Lets a job hold a unique key until a moment. Arguments by position: unique_key, job, until.
INSERT INTO windlass_windows (unique_key, job, until) VALUES (?1, ?2, ?3)
ON DUPLICATE KEY UPDATE job = ?2, until = ?3
