-- Retry jobs, queue by queue, by their time.
-- Arguments: first, second, third (queue, due, place to go on after), last (queue), limit.
SELECT /*columns*/ FROM windlass_jobs
WHERE state = 'retry' AND (queue, due, place) > (:first, :second, :third) AND queue <= :last
ORDER BY queue, due, place
LIMIT :limit
