-- Takes a worker off the list.
--
-- KEYS  the workers, until when each counts as heard of, and the orders that were left for them
-- ARGV  call, then the worker
-- include: call

redis.call('HDEL', KEYS[1], ARGV[3])
redis.call('ZREM', KEYS[2], ARGV[3])
redis.call('HDEL', KEYS[3], ARGV[3])
