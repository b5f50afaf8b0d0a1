-- Blocked jobs, held until the commit. Arguments: ids. Returns: the lock columns, due, place.
SELECT /*lock_columns*/, due, place FROM windlass_jobs FORCE INDEX (windlass_jobs_id)
WHERE id IN :ids AND state = 'blocked'
ORDER BY id
FOR UPDATE
