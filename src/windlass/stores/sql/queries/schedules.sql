-- All schedules by name. Returns: name, definition, paused (1 or 0), last, job.
SELECT name, definition, paused, last, job FROM windlass_schedules ORDER BY name
