-- What became of jobs that their workers no longer hold. Arguments: ids. Returns: id, fence, state.
-- Locked: if one is being written right now, this waits for it.
-- By its index however few rows there are: a scan would wait for those of open transactions.
(SELECT CONVERT(id USING utf8mb4), fence, state
 FROM windlass_jobs FORCE INDEX (windlass_jobs_id)
 WHERE id IN :ids AND state <> 'active' FOR UPDATE)
UNION ALL
(SELECT CONVERT(id USING utf8mb4), fence, state
 FROM windlass_finished FORCE INDEX (windlass_finished_id)
 WHERE id IN :ids FOR UPDATE)
