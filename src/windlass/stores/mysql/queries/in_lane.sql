-- The first jobs that wait for a slot of a lane, by priority.
-- Arguments: queue, lane, limit. Returns: id, state, due.
SELECT CONVERT(jobs.id USING utf8mb4), jobs.state, jobs.due
FROM (
  SELECT id FROM windlass_turns FORCE INDEX (windlass_turns_lane)
  WHERE queue = :queue AND lane = :lane AND stand = 0
  ORDER BY `rank`, place
  LIMIT :limit
  /*current*/
) AS turns
STRAIGHT_JOIN windlass_jobs AS jobs FORCE INDEX (windlass_jobs_id) ON jobs.id = turns.id
ORDER BY jobs.`rank`, jobs.place
/*current*/
