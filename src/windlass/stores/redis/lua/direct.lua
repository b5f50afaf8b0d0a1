-- Leaves an order for workers that were heard of within their time.
--
-- KEYS  the orders, and until when each worker counts as heard of
-- ARGV  call, then the order, and the workers
-- Returns those that were there.
-- include: call

local found = {}
ALLOW_WHEN_FULL
for at = 4, #ARGV do
  local till = redis.call('ZSCORE', KEYS[2], ARGV[at])
  if till and tonumber(till) > NOW then
    redis.call('HSET', KEYS[1], ARGV[at], ARGV[3])
    found[#found + 1] = ARGV[at]
  end
end
return found
