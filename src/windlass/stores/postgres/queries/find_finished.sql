-- Finished jobs of one state, newest first.
-- Arguments: state, first, second, third (finished_at, place and id to go on before), limit.
SELECT /*finished_columns*/ FROM windlass_finished
WHERE state = :state AND (finished_at, place, id) < (:first, :second, :third)
ORDER BY finished_at DESC, place DESC, id DESC
LIMIT :limit
