-- Active jobs in the order of their claims, those of one claim by id.
-- Arguments: first, second (fence and id to go on after), limit.
SELECT /*columns*/ FROM windlass_jobs FORCE INDEX (windlass_jobs_order)
WHERE state = 'active'
  AND line > CONCAT(LPAD(HEX(GREATEST(:first, 0)), 16, '0'), CONVERT(:second, BINARY))
ORDER BY line
LIMIT :limit
