-- The workers that were heard of within their time.
--
-- KEYS  the workers, until when each counts as heard of, and the orders that were left for them
-- ARGV  call
-- Returns for each its description, after the time it was heard of (8 bytes), and the order that
-- stands for it, or nothing.
-- include: call

local found = {}
for _, worker in ipairs(redis.call('ZRANGEBYSCORE', KEYS[2], '(' .. NOW, '+inf')) do
  found[#found + 1] = redis.call('HGET', KEYS[1], worker) or ''
  found[#found + 1] = redis.call('HGET', KEYS[3], worker) or ''
end
return found
