-- As `greatest`, as this transaction sees it, without a lock.
-- The last place that each of these groups has in the line. Arguments: queue, groups (JSON).
-- Returns: group, place.
SELECT name, (
  SELECT place - 4611684918915760128 FROM windlass_turns FORCE INDEX (windlass_turns_group)
  WHERE queue = :queue AND grp = name
  ORDER BY place DESC
  LIMIT 1
) AS last
FROM JSON_TABLE(
  :groups, '$[*]' COLUMNS (name VARCHAR(256) CHARACTER SET utf8mb4 PATH '$')
) AS wanted
HAVING last IS NOT NULL
