-- Lanes by queue and name, each with the jobs that have a slot of it and those that wait for one.
-- Arguments: queue, name (to go on after), limit, most (no more of a lane's jobs are counted).
-- Returns: queue, name, limits, held, waiting.
SELECT
  l.queue,
  l.name,
  l.limits,
  (SELECT count(*) FROM (
    SELECT 1 FROM windlass_jobs AS j
    WHERE j.slot = 1 AND j.queue = l.queue AND j.lane = l.name
    LIMIT :most
  ) AS held),
  (SELECT count(*) FROM (
    SELECT 1 FROM windlass_jobs AS j
    WHERE j.slot = 0 AND j.queue = l.queue AND j.lane = l.name
    LIMIT :most
  ) AS waiting)
FROM windlass_lanes AS l
WHERE (l.queue, l.name) > (:queue, :name)
ORDER BY l.queue, l.name
LIMIT :limit
