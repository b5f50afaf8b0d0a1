-- Returns: queue, state, number for every count above zero.
SELECT queue, state, sum(number)::bigint FROM (
  SELECT queue, state, number FROM windlass_counts WHERE queue <> ''
  UNION ALL
  SELECT queue, state, number FROM windlass_deltas
) AS summands
GROUP BY queue, state
HAVING sum(number) > 0
