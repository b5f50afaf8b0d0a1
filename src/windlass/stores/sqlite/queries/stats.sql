-- The buckets of queues. Arguments: names (JSON), step, since. Returns: at, queue, name, number.
SELECT at, queue, name, number FROM windlass_stats
WHERE queue IN (SELECT value FROM json_each(:names)) AND step = :step AND at >= :since
