-- Takes names for jobs of other shards: ids ("i") or unique keys ("u"). Taking one again for the
-- same owner is allowed.
--
-- KEYS  those of the shard that is the home of these names
-- ARGV  call, queues (none), then the kind, and name and owner of each: the owner of an id is
--       the number of a shard, that of a key is an id
-- Returns position (from 0) and holder for each that another has.
-- include: keys call queues codes

local kind = ARGV[FIRST]
local names = kind == 'u' and UNIQUE or NAMES
local refused = {}
for at = FIRST + 1, #ARGV, 2 do
  local name, owner = ARGV[at], ARGV[at + 1]
  local holder = redis.call('HGET', names, name)
  if not holder and kind == 'i' then
    local job = redis.call('HGET', JOBS, name)
    if job and string.byte(job, 17) ~= GHOST then holder = 'here' end
  end
  if holder and holder ~= owner then
    refused[#refused + 1] = (at - FIRST - 1) / 2
    refused[#refused + 1] = kind == 'u' and holder or name
  else
    redis.call('HSET', names, name, owner)
  end
end
return refused
