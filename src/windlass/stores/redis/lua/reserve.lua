-- Takes names for jobs of other shards: ids ("i") or unique keys ("u"). Taking one again for the
-- same owner is allowed, and taking it over from the holder that is named.
--
-- KEYS  those of the shard that is the home of these names
-- ARGV  call, queues (none), then the kind, and four values of each: name and owner, where the owner
--       of an id is the number of a shard, that of a key is an id; for how many milliseconds, "0" if
--       as long as the job is live; and the holder that it follows, or ""
-- Returns position (from 0) and holder for each that another has.
-- include: keys call queues codes unique

local kind = ARGV[FIRST]
local refused = {}
for at = FIRST + 1, #ARGV, 4 do
  local name, owner, window, before = ARGV[at], ARGV[at + 1], tonumber(ARGV[at + 2]), ARGV[at + 3]
  local holder
  if kind == 'u' then
    holder = holder_of(name)
  else
    holder = redis.call('HGET', NAMES, name)
    local job = not holder and redis.call('HGET', JOBS, name)
    if job and string.byte(job, 17) ~= GHOST then holder = 'here' end
  end
  if holder and holder ~= owner and holder ~= before then
    refused[#refused + 1] = (at - FIRST - 1) / 4
    refused[#refused + 1] = kind == 'u' and holder or name
  elseif kind == 'u' then
    hold_key(name, owner, window > 0 and window or nil)
  else
    redis.call('HSET', NAMES, name, owner)
  end
end
return refused
