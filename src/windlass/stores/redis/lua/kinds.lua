-- Of which type keys are.
--
-- KEYS  any keys of the shard
-- ARGV  call
-- Returns the type of each, "none" if it is not there.
-- include: call

local kinds = {}
for n = 1, #KEYS do kinds[n] = redis.call('TYPE', KEYS[n]).ok end
return kinds
