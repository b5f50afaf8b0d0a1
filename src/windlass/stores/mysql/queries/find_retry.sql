-- Retry jobs, queue by queue, by their time.
-- Arguments: first, second, third, fourth (queue, due, place, id to go on after), last (queue),
-- limit. Jobs of one place, as those of groups may have outside of the line, come by number.
SELECT /*columns*/ FROM windlass_jobs FORCE INDEX (windlass_jobs_order)
WHERE state = 'retry' AND line <= :last AND (
  line > :first
  OR (line = :first AND step > :second)
  OR (line = :first AND step = :second AND place > :third)
  OR (line = :first AND step = :second AND place = :third AND number > COALESCE((
    SELECT former.number FROM windlass_jobs AS former WHERE former.id = :fourth
  ), -1))
)
ORDER BY line, step, place, number
LIMIT :limit
