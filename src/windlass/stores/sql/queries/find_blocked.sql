-- Blocked jobs by id. Arguments: first (id to go on after), limit.
SELECT /*columns*/ FROM windlass_jobs
WHERE state = 'blocked' AND id > :first
ORDER BY id
LIMIT :limit
