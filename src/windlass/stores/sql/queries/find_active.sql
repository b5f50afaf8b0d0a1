-- Active jobs in the order of their claims, those of one claim by id.
-- Arguments: first, second (fence and id to go on after), limit.
SELECT /*columns*/ FROM windlass_jobs
WHERE state = 'active' AND (fence, id) > (:first, :second)
ORDER BY fence, id
LIMIT :limit
