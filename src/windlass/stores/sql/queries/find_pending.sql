-- Pending jobs, queue by queue, in the order in which they will run.
-- Arguments: first, second, third (queue, rank, place to go on after), last (queue), limit.
SELECT /*columns*/ FROM windlass_jobs
WHERE state = 'pending' AND (queue, rank, place) > (:first, :second, :third) AND queue <= :last
ORDER BY queue, rank, place
LIMIT :limit
