-- Pending jobs, queue by queue, in the order in which they will run.
-- Arguments: first, second, third (queue, rank, place to go on after), last (queue), limit.
SELECT /*columns*/ FROM windlass_jobs FORCE INDEX (windlass_jobs_order)
WHERE state = 'pending' AND line <= :last AND (
  line > :first
  OR (line = :first AND step > :second)
  OR (line = :first AND step = :second AND place > :third)
)
ORDER BY line, step, place
LIMIT :limit
