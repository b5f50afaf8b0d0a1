-- A live job that is there though this transaction does not see it, held until the commit.
-- Arguments: ids. Returns: number, the lock columns.
SELECT number, /*lock_columns*/ FROM windlass_jobs FORCE INDEX (windlass_jobs_id)
WHERE id IN :ids FOR UPDATE
