-- Finished jobs of one state, newest first.
-- Arguments: state, first, second (finished_at and number to go on before), limit.
SELECT /*finished_columns*/ FROM windlass_finished FORCE INDEX (PRIMARY)
WHERE state = :state
  AND (finished_at < :first OR (finished_at = :first AND number < :second))
ORDER BY finished_at DESC, number DESC
LIMIT :limit
