-- Blocked jobs by id. Arguments: first (id to go on after), limit.
SELECT /*columns*/ FROM windlass_jobs FORCE INDEX (windlass_jobs_order)
WHERE state = 'blocked' AND line > :first
ORDER BY line
LIMIT :limit
