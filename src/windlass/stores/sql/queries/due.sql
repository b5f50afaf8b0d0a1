-- Jobs of a queue whose time has come, earliest first. Arguments: queue, now, limit.
-- Returns: due, place, id, state, slot, special.
SELECT due, place, id, state, slot, /*special*/ FROM windlass_jobs
WHERE state = 'scheduled' AND queue = :queue AND due <= :now
UNION ALL
SELECT due, place, id, state, slot, /*special*/ FROM windlass_jobs
WHERE state = 'retry' AND queue = :queue AND due <= :now
ORDER BY due, place
LIMIT :limit
