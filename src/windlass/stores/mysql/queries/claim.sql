-- Gives picked jobs to a worker. Arguments: refs, fence, until, worker, now.
-- By its index however few rows there are: a scan would wait for those of open transactions.
UPDATE windlass_jobs FORCE INDEX (PRIMARY)
SET state = 'active', attempt = attempt + 1, fence = :fence, lease_until = :until,
    worker = :worker, started_at = :now, progress = NULL
WHERE number IN :refs
