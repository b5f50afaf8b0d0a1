-- Since when the first in line of the priorities of queues are due. Goes from priority to priority
-- by the index of the line, and looks at one job of each. Arguments: queues (JSON).
-- Returns: queue, due of the earliest, for each queue that has pending jobs.
WITH RECURSIVE lines (queue, rank) AS (
  SELECT asked.queue COLLATE "C", (
    SELECT min(j.rank) FROM windlass_jobs AS j
    WHERE j.state = 'pending' AND j.queue = asked.queue COLLATE "C"
  )
  FROM json_array_elements_text(:queues::json) AS asked (queue)
  UNION ALL
  SELECT l.queue, (
    SELECT min(j.rank) FROM windlass_jobs AS j
    WHERE j.state = 'pending' AND j.queue = l.queue AND j.rank > l.rank
  )
  FROM lines AS l
  WHERE l.rank IS NOT NULL
)
SELECT l.queue, min(head.due)
FROM lines AS l CROSS JOIN LATERAL (
  SELECT j.due FROM windlass_jobs AS j
  WHERE j.state = 'pending' AND j.queue = l.queue AND j.rank = l.rank
  ORDER BY j.place
  LIMIT 1
) AS head
GROUP BY l.queue
