-- Adds schedules, or changes those that have these names.
--
-- KEYS  the schedules
-- ARGV  call, then name, own and description of each; what is kept for a name is its own: the last
--       tick i8, paused B, the job of that tick (length H before it); and then the description.
--       The own that is given is for a new one, and its last tick 0 stands for now
-- include: call

for at = 3, #ARGV, 3 do
  local kept = redis.call('HGET', KEYS[1], ARGV[at])
  local own = ARGV[at + 1]
  if struct.unpack('>i8', own) == 0 then
    own = struct.pack('>i8', NOW) .. string.sub(own, 9)
  end
  if kept and #kept >= 11 then
    local _, _, length, from = struct.unpack('>i8BH', kept)
    -- What is shorter than it says was damaged, and begins anew.
    if #kept >= from + length - 1 then own = string.sub(kept, 1, from + length - 1) end
  end
  redis.call('HSET', KEYS[1], ARGV[at], own .. ARGV[at + 2])
end
