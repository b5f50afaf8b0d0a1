-- Holds active jobs and the lanes that they are of, but for those that another transaction has.
-- Arguments: ids (JSON). Returns: id, of those that it has.
WITH asked AS MATERIALIZED (
  SELECT id, queue, lane FROM windlass_jobs
  WHERE id = ANY (ARRAY(SELECT json_array_elements_text(:ids::json) COLLATE "C"))
    AND state = 'active'
), held AS MATERIALIZED (
  SELECT l.queue, l.name
  FROM (SELECT DISTINCT queue, lane FROM asked WHERE lane IS NOT NULL ORDER BY queue, lane) AS n
  CROSS JOIN LATERAL (
    SELECT queue, name FROM windlass_lanes WHERE queue = n.queue AND name = n.lane
    FOR UPDATE SKIP LOCKED
  ) AS l
), free AS MATERIALIZED (
  SELECT j.id FROM asked AS a CROSS JOIN LATERAL (
    SELECT id FROM windlass_jobs WHERE id = a.id FOR UPDATE SKIP LOCKED
  ) AS j
  WHERE NOT EXISTS (
    SELECT FROM windlass_lanes AS l WHERE l.queue = a.queue AND l.name = a.lane
      AND NOT EXISTS (SELECT FROM held AS h WHERE h.queue = l.queue AND h.name = l.name)
  )
)
SELECT id FROM asked WHERE NOT EXISTS (SELECT FROM free WHERE free.id = asked.id)
