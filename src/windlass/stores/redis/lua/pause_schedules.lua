-- Pauses schedules, or lets them go on: one that was paused does so from now.
--
-- KEYS  the schedules (see put_schedules)
-- ARGV  call, then "1" to pause or "0", and names
-- Returns the names that there are.
-- include: call

local found = {}
for at = 4, #ARGV do
  local kept = redis.call('HGET', KEYS[1], ARGV[at])
  if kept and #kept >= 11 then
    local last, paused = struct.unpack('>i8B', kept)
    if paused == 1 and ARGV[3] == '0' then last = math.max(last, NOW) end
    local own = struct.pack('>i8B', last, tonumber(ARGV[3]))
    redis.call('HSET', KEYS[1], ARGV[at], own .. string.sub(kept, 10))
    found[#found + 1] = ARGV[at]
  end
end
return found
