-- Sees to a tick, if nobody has: notes it as the last one of its schedule, and in the same step that
-- its job is to come in, or what is to be done for that in another shard.
--
-- KEYS  the schedules (see put_schedules), the outbox
-- ARGV  call, then name, the schedule as it was read, the tick, the job of the tick, the field of the
--       outbox, what is noted there after the time; field and note are "" if no job comes; and the
--       field where a tick is noted whose job belongs to another shard
-- Returns 1 if it did, 0 if the schedule is another by now, -1 if its time has not come; or what was
-- noted for a former tick, which is to be done before.
-- include: call

local name, read, tick = ARGV[3], ARGV[4], tonumber(ARGV[5])
if tick > NOW then return -1 end
local _, paused, length, from = struct.unpack('>i8BH', read)
local changed = struct.pack('>i8BH', tick, paused, #ARGV[6]) .. ARGV[6]
  .. string.sub(read, from + length)
local kept = redis.call('HGET', KEYS[1], name)
-- The first sending, whose answer was lost, or someone else who saw to the very same tick.
if AGAIN and kept == changed then return 1 end
if kept ~= read then return 0 end
local former = redis.call('HGET', KEYS[2], ARGV[9])
if former then return string.sub(former, 9) end
redis.call('HSET', KEYS[1], name, changed)
if ARGV[7] ~= '' then
  redis.call('HSET', KEYS[2], ARGV[7], struct.pack('>i8', NOW) .. ARGV[8])
end
return 1
