-- Removes keys of the API, and notes that there were some.
--
-- KEYS  the keys
-- ARGV  call, then the id and the record of the note, then ids
-- Returns the ids that were.
-- include: call

local dropped = {}
for at = 5, #ARGV do
  -- By the first sending, if its answer was lost.
  if redis.call('HDEL', KEYS[1], ARGV[at]) == 1 or AGAIN then dropped[#dropped + 1] = ARGV[at] end
end
if #dropped > 0 then redis.call('HSET', KEYS[1], ARGV[3], ARGV[4]) end
return dropped
