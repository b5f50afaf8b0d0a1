-- The buckets of queues. Arguments: names (JSON), step, since. Returns: at, queue, name, number.
SELECT at, queue, name, number FROM windlass_stats
WHERE queue = ANY (ARRAY(SELECT json_array_elements_text(:names::json) COLLATE "C"))
  AND step = :step AND at >= :since
