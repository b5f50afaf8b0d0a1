-- Active jobs that a worker has a lease of, but for those that another transaction has.
-- Arguments: worker, now, limit. Returns: id.
-- Looks at all that are active: these are as many as workers hold.
SELECT id FROM windlass_jobs
WHERE state = 'active' AND lease_until > :now AND worker = :worker
ORDER BY lease_until, id
LIMIT :limit
FOR UPDATE SKIP LOCKED
