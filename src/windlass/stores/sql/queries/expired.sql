-- Active jobs whose lease ran out, longest ago first. Arguments: now, limit.
-- Returns: id.
SELECT id FROM windlass_jobs
WHERE lease_until IS NOT NULL AND lease_until <= :now AND state = 'active'
ORDER BY lease_until, id
LIMIT :limit
