-- Open edges of jobs that have ended, job by job, held against others who see to them.
-- Arguments: ids (JSON, sorted), limit. Returns: parent, serial, child, anyway.
SELECT e.parent, e.serial, e.child, e.anyway
FROM json_array_elements_text(:ids::json) WITH ORDINALITY AS w (id, turn)
CROSS JOIN LATERAL (
  SELECT parent, serial, child, anyway FROM windlass_edges
  WHERE parent = w.id COLLATE "C"
  ORDER BY serial
  LIMIT :limit::bigint
  FOR UPDATE
) AS e
LIMIT :limit::bigint
