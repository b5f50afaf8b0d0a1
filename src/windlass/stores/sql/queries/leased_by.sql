-- Active jobs that a worker has a lease of. Arguments: worker, now, limit. Returns: id.
-- Looks at all that are active, in the index of leases: these are as many as workers hold.
SELECT id FROM windlass_jobs
WHERE lease_until IS NOT NULL AND lease_until > :now AND state = 'active' AND worker = :worker
ORDER BY lease_until
LIMIT :limit
