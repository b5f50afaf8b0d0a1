-- Pending jobs, queue by queue, in the order in which they will run.
-- Arguments: first, second, third, fourth (queue, rank, place, id to go on after), last (queue),
-- limit. By the id at last: two who give out places to groups at one moment may give the same.
SELECT /*columns*/ FROM windlass_jobs
WHERE state = 'pending'
  AND (queue, rank, place, id) > (:first, :second, :third, :fourth) AND queue <= :last
ORDER BY queue, rank, place, id
LIMIT :limit
