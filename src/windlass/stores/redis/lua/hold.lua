-- Holds jobs back that are to come in, until the names that other shards keep for them are taken
-- there.
--
-- KEYS  those of the shard
-- ARGV  call, queues (none), then the kind, and three values of each: of new jobs ("a") id, record
--       as for insert, large spec or ""; of restored ones ("b") id, record and sides as for restore
-- Returns the positions (from 0) of those that are there already, and of those that are held for
-- another call.
-- include: keys call queues codes

local kind, refused, taken = ARGV[FIRST], {}, {}

-- Whether it is held for someone else: not by the first sending of this call, and not by a move
-- that ended in the middle and is made again.
local function is_taken(field, value)
  local held = not AGAIN and redis.call('HGET', OUTBOX, field)
  if not held then return false end
  return kind == 'a' or string.sub(held, 9) ~= value
end

for at = FIRST + 1, #ARGV, 3 do
  local id, record = ARGV[at], ARGV[at + 1]
  local value = struct.pack('>I4', #record) .. record .. ARGV[at + 2]
  local there = redis.call('HGET', JOBS, id)
  if there and string.byte(there, 17) ~= GHOST then
    refused[#refused + 1] = (at - FIRST - 1) / 3
  elseif is_taken(kind .. id, value) then
    taken[#taken + 1] = (at - FIRST - 1) / 3
  else
    redis.call('HSET', OUTBOX, kind .. id, struct.pack('>i8', NOW) .. value)
  end
end
return { refused, taken }
