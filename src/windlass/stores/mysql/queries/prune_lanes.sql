-- Forgets lanes that nobody is in. Arguments: now, limit.
-- Not one statement: a DELETE would wait for lanes that another transaction has.
SELECT JSON_ARRAYAGG(JSON_ARRAY(CONVERT(queue USING utf8mb4), CONVERT(name USING utf8mb4)))
FROM (
  SELECT queue, name FROM windlass_lanes FORCE INDEX (windlass_lanes_idle)
  WHERE idle_at <= :now
  ORDER BY idle_at
  LIMIT :limit
  FOR UPDATE SKIP LOCKED
) AS idle
INTO @idle;
DELETE lanes
FROM JSON_TABLE(
  COALESCE(@idle, '[]'), '$[*]'
  COLUMNS (
    queue VARCHAR(128) CHARACTER SET utf8mb4 PATH '$[0]',
    name VARCHAR(256) CHARACTER SET utf8mb4 PATH '$[1]'
  )
) AS idle
STRAIGHT_JOIN windlass_lanes AS lanes
WHERE lanes.queue = idle.queue AND lanes.name = idle.name
