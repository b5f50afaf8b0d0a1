-- Enters a worker into the list; those that were not heard of for long leave it.
--
-- KEYS  the workers, until when each counts as heard of, and the orders that were left for them
-- ARGV  call, then the worker, its description, for how many milliseconds
-- Returns the order that stands for it, nil if there is none.
-- include: call

local worker, before = ARGV[3], redis.call('ZSCORE', KEYS[2], ARGV[3])
ALLOW_WHEN_FULL
redis.call('HSET', KEYS[1], worker, struct.pack('>i8', NOW) .. ARGV[4])
redis.call('ZADD', KEYS[2], NOW + tonumber(ARGV[5]), worker)
for _, gone in ipairs(redis.call('ZRANGEBYSCORE', KEYS[2], '-inf', NOW, 'LIMIT', 0, 100)) do
  redis.call('HDEL', KEYS[1], gone)
  redis.call('ZREM', KEYS[2], gone)
  redis.call('HDEL', KEYS[3], gone)
end
-- What was left for an entry that has gone since is not for this one.
if not before or tonumber(before) <= NOW then redis.call('HDEL', KEYS[3], worker) end
return redis.call('HGET', KEYS[3], worker)
