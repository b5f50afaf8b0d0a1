-- Notes the last tick of a schedule, and the job of the last one that made one.
-- Arguments: name, last, job.
UPDATE windlass_schedules SET last = :last, job = :job WHERE name = :name
