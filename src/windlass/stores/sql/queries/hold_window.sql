-- Lets a job hold a unique key until a moment. Arguments by position: unique_key, job, until.
INSERT INTO windlass_windows (unique_key, job, until) VALUES (?, ?, ?)
ON CONFLICT (unique_key) DO UPDATE SET job = excluded.job, until = excluded.until
