-- Gives up a leadership, if this holder has it. The term stays, to be counted on from.
--
-- KEYS  the terms
-- ARGV  call, then the role and who resigns
-- include: call

local stored = redis.call('HGET', KEYS[1], ARGV[3])
if stored and string.sub(stored, 17) == ARGV[4] then
  redis.call('HSET', KEYS[1], ARGV[3], string.sub(stored, 1, 8) .. struct.pack('>i8', 0))
end
