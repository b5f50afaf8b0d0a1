-- Takes a worker that is gone off the list, and gives up what it led.
--
-- KEYS  the terms; the workers, until when each counts as heard of, and the orders that were left
--       for them
-- ARGV  call, then the worker
-- include: call

local terms = redis.call('HGETALL', KEYS[1])
for n = 1, #terms, 2 do
  if string.sub(terms[n + 1], 17) == ARGV[3] then
    ALLOW_WHEN_FULL
    local ended = string.sub(terms[n + 1], 1, 8) .. struct.pack('>i8', 0)
    redis.call('HSET', KEYS[1], terms[n], ended)
  end
end
redis.call('HDEL', KEYS[2], ARGV[3])
redis.call('ZREM', KEYS[3], ARGV[3])
redis.call('HDEL', KEYS[4], ARGV[3])
