-- One schedule, held against other schedulers. Arguments: name. Returns: as `schedules`.
SELECT name, definition, paused, last, job FROM windlass_schedules WHERE name = :name FOR UPDATE
