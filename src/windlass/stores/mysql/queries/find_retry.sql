-- Retry jobs, queue by queue, by their time.
-- Arguments: first, second, third (queue, due, place to go on after), last (queue), limit.
SELECT /*columns*/ FROM windlass_jobs FORCE INDEX (windlass_jobs_order)
WHERE state = 'retry' AND line <= :last AND (
  line > :first
  OR (line = :first AND step > :second)
  OR (line = :first AND step = :second AND place > :third)
)
ORDER BY line, step, place
LIMIT :limit
