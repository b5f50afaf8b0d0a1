-- The lanes of the next pending jobs, as they are, whoever is at them.
-- Arguments: queues, mosts (arrays: the most that each may give). Returns: queue, name, limits.
SELECT DISTINCT a.queue, j.lane, l.limits
FROM unnest(:queues::text[], :mosts::bigint[]) AS a (queue, most) CROSS JOIN LATERAL (
  SELECT lane FROM windlass_jobs
  WHERE state = 'pending' AND queue = a.queue
  ORDER BY rank, place
  LIMIT a.most
) AS j LEFT JOIN windlass_lanes AS l ON l.queue = a.queue AND l.name = j.lane
WHERE j.lane IS NOT NULL
