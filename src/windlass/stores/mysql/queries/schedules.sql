-- All schedules by name. Returns: name, definition, paused (1 or 0), last, job.
SELECT CONVERT(name USING utf8mb4), definition, paused, last, CONVERT(job USING utf8mb4)
FROM windlass_schedules ORDER BY name
