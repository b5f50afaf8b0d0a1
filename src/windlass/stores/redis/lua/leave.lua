-- Takes a worker off the list.
--
-- KEYS  the workers, and until when each counts as heard of
-- ARGV  call, then the worker
-- include: call

redis.call('HDEL', KEYS[1], ARGV[3])
redis.call('ZREM', KEYS[2], ARGV[3])
