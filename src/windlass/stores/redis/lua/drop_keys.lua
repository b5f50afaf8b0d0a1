-- Removes keys of the API.
--
-- KEYS  the keys
-- ARGV  call, then ids
-- Returns the ids that were.
-- include: call

local dropped = {}
for at = 3, #ARGV do
  -- By the first sending, if its answer was lost.
  if redis.call('HDEL', KEYS[1], ARGV[at]) == 1 or AGAIN then dropped[#dropped + 1] = ARGV[at] end
end
return dropped
