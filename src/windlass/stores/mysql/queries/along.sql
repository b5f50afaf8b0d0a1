-- The jobs that come along with the first of a lane, but for those that another transaction has.
-- Arguments: queue, lane, limit, room (unused).
-- Returns: the claim columns, the size of the spec, state.
SELECT /*claim_columns*/, LENGTH(spec), state
FROM (
  SELECT id AS turn FROM windlass_turns FORCE INDEX (windlass_turns_order)
  WHERE queue = :queue AND lane = :lane AND stand = 0
  ORDER BY place
  LIMIT :limit
) AS turns
STRAIGHT_JOIN windlass_jobs FORCE INDEX (windlass_jobs_id) ON id = turn
ORDER BY place
FOR UPDATE SKIP LOCKED
