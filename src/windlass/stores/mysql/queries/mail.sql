-- The signals that came for live jobs, and the one each is parked for. Arguments: ids.
-- Returns: id, awaits, mail. Locked, if they are not yet: what came meanwhile is there.
SELECT CONVERT(id USING utf8mb4), awaits, mail FROM windlass_jobs FORCE INDEX (windlass_jobs_id)
WHERE id IN :ids
FOR UPDATE
