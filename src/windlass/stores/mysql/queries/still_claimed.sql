-- Active jobs, whoever has them. Arguments: ids. Returns: id, fence.
SELECT CONVERT(id USING utf8mb4), fence FROM windlass_jobs FORCE INDEX (windlass_jobs_id)
WHERE id IN :ids AND state = 'active'
