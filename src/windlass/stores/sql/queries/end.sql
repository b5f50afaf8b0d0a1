-- Ends a job; a former error stays unless there is a new one.
-- Arguments by position: as `to_end` in rows.py.
UPDATE windlass_jobs
SET state = ?, finished_at = ?, expires_at = ?, lease_until = NULL, error = coalesce(?, error),
    result = ?, checkpoint = CASE ? WHEN 1 THEN checkpoint END,
    mail = CASE ? WHEN 1 THEN mail END, awaits = NULL, slot = NULL
WHERE id = ?
