-- Returns: queue, state, number for every count above zero.
SELECT CONVERT(queue USING utf8mb4), CONVERT(state USING utf8mb4), CAST(SUM(number) AS SIGNED)
FROM (
  SELECT queue, state, number FROM windlass_counts WHERE queue <> ''
  UNION ALL
  SELECT queue, state, number FROM windlass_deltas
) AS changes
GROUP BY queue, state
HAVING SUM(number) > 0
