-- The next pending jobs of a queue that nobody else is claiming, in order.
-- Arguments: queue, limit. Returns: the claim columns, the size of the spec, place.
SELECT /*claim_columns*/, LENGTH(spec), place FROM windlass_jobs FORCE INDEX (windlass_jobs_order)
WHERE state = 'pending' AND line = :queue
ORDER BY step, place
LIMIT :limit
FOR UPDATE SKIP LOCKED
