-- The next pending jobs of a queue, in order. Arguments: queue, limit.
-- Returns: the claim columns, the size of the spec. The transaction has the write lock of the whole file already.
SELECT /*claim_columns*/, length(spec) FROM windlass_jobs
WHERE state = 'pending' AND queue = :queue
ORDER BY rank, place
LIMIT :limit
