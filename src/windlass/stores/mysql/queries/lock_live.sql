-- As `lock`, of live jobs alone, but for those that another transaction has. Arguments: ids.
-- Returns: the lock columns.
-- By its index however few rows there are: a scan would look at those of open transactions.
SELECT /*lock_columns*/ FROM windlass_jobs FORCE INDEX (windlass_jobs_id)
WHERE id IN :ids FOR UPDATE SKIP LOCKED
