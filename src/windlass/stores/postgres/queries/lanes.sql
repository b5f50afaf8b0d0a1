-- Lanes of a queue, held against others who settle them. Arguments: queue, names (JSON, sorted).
-- Returns: name, limits, state, idle_at.
SELECT l.name, l.limits, l.state, l.idle_at
FROM json_array_elements_text(:names::json) AS n (name) CROSS JOIN LATERAL (
  SELECT name, limits, state, idle_at FROM windlass_lanes
  WHERE queue = :queue::text AND name = n.name COLLATE "C"
  FOR UPDATE
) AS l
