-- Active jobs whose lease ran out, longest ago first, but for those that another transaction has.
-- Arguments: now, limit. Returns: id. Looks at all that are active: leases are in no index, so that
-- to renew them changes none.
SELECT id FROM windlass_jobs
WHERE state = 'active' AND lease_until <= :now
ORDER BY lease_until, id
LIMIT :limit
FOR UPDATE SKIP LOCKED
