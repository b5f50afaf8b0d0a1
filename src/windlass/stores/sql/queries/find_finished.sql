-- Finished jobs of one state, newest first.
-- Arguments: state, first, second (finished_at and place to go on before), limit.
SELECT /*columns*/ FROM windlass_jobs
WHERE finished_at IS NOT NULL AND state = :state AND (finished_at, place) < (:first, :second)
ORDER BY finished_at DESC, place DESC
LIMIT :limit
