-- Since when the first in line of the priorities of queues are due. Goes from priority to priority
-- by the index of the line, and looks at one job of each. Arguments: queues (JSON).
-- Returns: queue, due of the earliest, for each queue that has pending jobs.
WITH RECURSIVE lines (queue, rank) AS (
  SELECT value, (
    SELECT min(rank) FROM windlass_jobs WHERE state = 'pending' AND queue = value
  )
  FROM json_each(:queues)
  UNION ALL
  SELECT l.queue, (
    SELECT min(j.rank) FROM windlass_jobs AS j
    WHERE j.state = 'pending' AND j.queue = l.queue AND j.rank > l.rank
  )
  FROM lines AS l
  WHERE l.rank IS NOT NULL
)
SELECT l.queue, min((
  SELECT j.due FROM windlass_jobs AS j
  WHERE j.state = 'pending' AND j.queue = l.queue AND j.rank = l.rank
  ORDER BY j.place
  LIMIT 1
))
FROM lines AS l
WHERE l.rank IS NOT NULL
GROUP BY l.queue
