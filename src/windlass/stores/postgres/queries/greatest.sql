-- The last place that each of these groups has in the line. Arguments: queue, groups (JSON).
-- Returns: group, place.
SELECT g.name, p.place - /*band*/
FROM json_array_elements_text(:groups::json) AS g (name) CROSS JOIN LATERAL (
  SELECT place FROM windlass_jobs
  WHERE queue = :queue::text AND grp = g.name COLLATE "C"
    AND grp IS NOT NULL AND (state = 'pending' OR slot = 0)
  ORDER BY place DESC
  LIMIT 1
) AS p
