-- Live jobs as this transaction sees them, without a lock. Arguments: ids.
-- Returns: number, id, place.
SELECT number, CONVERT(id USING utf8mb4), place FROM windlass_jobs FORCE INDEX (windlass_jobs_id)
WHERE id IN :ids
