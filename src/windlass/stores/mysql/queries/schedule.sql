-- One schedule, held against other schedulers. Arguments: name. Returns: as `schedules`.
SELECT CONVERT(name USING utf8mb4), definition, paused, last, CONVERT(job USING utf8mb4)
FROM windlass_schedules WHERE name = :name FOR UPDATE
