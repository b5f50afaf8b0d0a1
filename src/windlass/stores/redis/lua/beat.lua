-- Enters a worker into the list; those that were not heard of for long leave it.
--
-- KEYS  the workers, and until when each counts as heard of
-- ARGV  call, then the worker, its description, for how many milliseconds
-- include: call

ALLOW_WHEN_FULL
redis.call('HSET', KEYS[1], ARGV[3], struct.pack('>i8', NOW) .. ARGV[4])
redis.call('ZADD', KEYS[2], NOW + tonumber(ARGV[5]), ARGV[3])
for _, gone in ipairs(redis.call('ZRANGEBYSCORE', KEYS[2], '-inf', NOW, 'LIMIT', 0, 100)) do
  redis.call('HDEL', KEYS[1], gone)
  redis.call('ZREM', KEYS[2], gone)
end
