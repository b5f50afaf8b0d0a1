-- The last place that each of these groups has in the line. Arguments: queue, groups (JSON).
-- Returns: group, place or NULL.
SELECT value, (
  SELECT max(place) FROM windlass_jobs
  WHERE queue = :queue AND grp = value AND grp IS NOT NULL AND (state = 'pending' OR slot = 0)
)
FROM json_each(:groups)
