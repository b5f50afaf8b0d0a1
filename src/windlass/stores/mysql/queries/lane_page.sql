-- Lanes by queue and name, each with the jobs that have a slot of it and those that wait for one.
-- Arguments: queue, name (to go on after), limit, most (no more of a lane's jobs are counted).
-- Returns: queue, name, limits, held, waiting.
-- Each stand by itself: with several at once, MySQL would go through all jobs of the lane. Whether
-- there are more than can be counted is asked first.
SELECT
  CONVERT(queue USING utf8mb4),
  CONVERT(name USING utf8mb4),
  limits,
  LEAST(:most, CAST(SUM(IF(stand > 0, number, 0)) AS SIGNED)),
  CAST(SUM(IF(stand = 0, number, 0)) AS SIGNED)
FROM (
  SELECT page.queue, page.name, page.limits, stands.stand, COALESCE(
    (SELECT :most FROM windlass_turns AS t FORCE INDEX (windlass_turns_lane)
     WHERE t.queue = page.queue AND t.lane = page.name AND t.stand = stands.stand
     LIMIT 1 OFFSET :most),
    (SELECT COUNT(*) FROM windlass_turns AS t FORCE INDEX (windlass_turns_lane)
     WHERE t.queue = page.queue AND t.lane = page.name AND t.stand = stands.stand)
  ) AS number
  FROM (
    SELECT queue, name, limits FROM windlass_lanes FORCE INDEX (PRIMARY)
    WHERE queue > :queue OR (queue = :queue AND name > :name)
    ORDER BY queue, name
    LIMIT :limit
  ) AS page
  CROSS JOIN (SELECT 0 AS stand UNION ALL SELECT 1 UNION ALL SELECT 2) AS stands
) AS counted
GROUP BY queue, name, limits
ORDER BY queue, name
