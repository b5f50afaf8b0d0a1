-- Since when the first in line of the priorities of queues are due. One look for each priority that
-- there can be: from one in use to the next, MySQL would go job by job. Arguments: queues (JSON).
-- Returns: queue, due of the earliest, for each queue that has pending jobs.
WITH RECURSIVE ranks (number) AS (
  SELECT 0
  UNION ALL
  SELECT number + 1 FROM ranks WHERE number < 100
)
SELECT CONVERT(heads.queue USING utf8mb4), MIN(heads.due)
FROM (
  SELECT asked.queue, (
    SELECT j.due FROM windlass_jobs AS j FORCE INDEX (windlass_jobs_order)
    WHERE j.state = 'pending' AND j.line = asked.queue AND j.step = ranks.number
    ORDER BY j.place
    LIMIT 1
  ) AS due
  FROM (
    SELECT CAST(queue AS BINARY) AS queue
    FROM JSON_TABLE(
      :queues, '$[*]' COLUMNS (queue VARCHAR(128) CHARACTER SET utf8mb4 PATH '$')
    ) AS wanted
  ) AS asked
  CROSS JOIN ranks
) AS heads
GROUP BY heads.queue
HAVING MIN(heads.due) IS NOT NULL
