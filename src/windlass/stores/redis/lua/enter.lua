-- Holds the job of a tick back in its shard, once: whoever comes late with the same tick, or an
-- earlier one of the schedule, finds that it was done.
--
-- KEYS  the last tick of each schedule that came here, the outbox
-- ARGV  call, then the schedule, the tick, the field of the outbox, and what is noted there
-- include: call

local last = tonumber(redis.call('HGET', KEYS[1], ARGV[3]) or 0)
if last >= tonumber(ARGV[4]) then return end
redis.call('HSET', KEYS[1], ARGV[3], ARGV[4])
redis.call('HSET', KEYS[2], ARGV[5], struct.pack('>i8', NOW) .. ARGV[6])
