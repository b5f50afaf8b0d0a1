-- Retry jobs, queue by queue, by their time.
-- Arguments: first, second, third, fourth (queue, due, place, id to go on after), last (queue),
-- limit.
SELECT /*columns*/ FROM windlass_jobs
WHERE state = 'retry'
  AND (queue, due, place, id) > (:first, :second, :third, :fourth) AND queue <= :last
ORDER BY queue, due, place, id
LIMIT :limit
