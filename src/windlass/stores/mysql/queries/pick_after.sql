-- As `pick`, of one rank and from a place on. Arguments: queue, rank, place, limit.
-- Returns: the claim columns, the size of the spec, place.
SELECT /*claim_columns*/, LENGTH(spec), place FROM windlass_jobs FORCE INDEX (windlass_jobs_order)
WHERE state = 'pending' AND line = :queue AND step = :rank AND place > :place
ORDER BY place
LIMIT :limit
FOR UPDATE SKIP LOCKED
