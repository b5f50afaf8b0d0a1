-- The workers that were heard of within their time.
--
-- KEYS  the workers, and until when each counts as heard of
-- ARGV  call
-- Returns their descriptions, each after the time it was heard of (8 bytes).
-- include: call

local found = {}
for _, worker in ipairs(redis.call('ZRANGEBYSCORE', KEYS[2], '(' .. NOW, '+inf')) do
  found[#found + 1] = redis.call('HGET', KEYS[1], worker)
end
return found
