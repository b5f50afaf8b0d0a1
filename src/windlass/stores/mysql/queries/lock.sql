-- What operations must know of jobs, held until the commit. Arguments: ids.
-- Returns: the lock columns. Live ones first: who ends a job meanwhile adds the finished one
-- before the live one is let go.
-- By its index however few rows there are: a scan would wait for those of open transactions.
(SELECT /*lock_columns*/ FROM windlass_jobs FORCE INDEX (windlass_jobs_id)
 WHERE id IN :ids FOR UPDATE)
UNION ALL
(SELECT /*finished_lock_columns*/ FROM windlass_finished FORCE INDEX (windlass_finished_id)
 WHERE id IN :ids FOR UPDATE)
