-- Hands picked jobs to a worker. Arguments: refs (JSON), fence, until, worker, now.
-- Not one statement with the pick: RETURNING would copy each row twice more.
UPDATE windlass_jobs
SET state = 'active', attempt = attempt + 1, fence = :fence, lease_until = :until,
    worker = :worker, started_at = :now, progress = NULL
WHERE number IN (SELECT value FROM json_each(:refs))
