-- The next pending jobs of a queue, in order. Arguments: queue, limit.
-- Returns: the claim columns. The transaction has the write lock of the whole file already.
SELECT /*claim_columns*/ FROM windlass_jobs
WHERE state = 'pending' AND queue = :queue
ORDER BY rank, place
LIMIT :limit
