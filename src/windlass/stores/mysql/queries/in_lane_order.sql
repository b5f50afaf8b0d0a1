-- The first jobs that wait for a slot of a lane, in the order of their coming.
-- Arguments: queue, lane, limit. Returns: id, state, due.
SELECT CONVERT(jobs.id USING utf8mb4), jobs.state, jobs.due
FROM (
  SELECT id FROM windlass_turns FORCE INDEX (windlass_turns_order)
  WHERE queue = :queue AND lane = :lane AND stand = 0
  ORDER BY place
  LIMIT :limit
  /*current*/
) AS turns
STRAIGHT_JOIN windlass_jobs AS jobs FORCE INDEX (windlass_jobs_id) ON jobs.id = turns.id
ORDER BY jobs.place
/*current*/
