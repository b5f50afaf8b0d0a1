-- Finished jobs of one state, newest first.
-- Arguments: state, first, second (finished_at and place to go on before), limit.
SELECT /*finished_columns*/ FROM windlass_finished
WHERE state = :state AND (finished_at, place) < (:first, :second)
ORDER BY finished_at DESC, place DESC
LIMIT :limit
