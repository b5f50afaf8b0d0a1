-- The buckets of queues. Arguments: names, step, since. Returns: at, queue, name, number.
SELECT at, CONVERT(queue USING utf8mb4), CONVERT(name USING utf8mb4), number
FROM windlass_stats FORCE INDEX (PRIMARY)
WHERE queue IN :names AND step = :step AND at >= :since
