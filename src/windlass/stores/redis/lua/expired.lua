-- When the leases ended that ran out, longest ago first.
--
-- KEYS  the leases of the shard
-- ARGV  call, then the most of them
-- Returns the times.
-- include: call

local found =
  redis.call('ZRANGEBYSCORE', KEYS[1], '-inf', NOW, 'WITHSCORES', 'LIMIT', 0, ARGV[3])
local ends = {}
for n = 2, #found, 2 do ends[#ends + 1] = tonumber(found[n]) end
return ends
