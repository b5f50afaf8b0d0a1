-- Drops a note that was seen to, unless it is a later one by now.
--
-- KEYS  the outbox
-- ARGV  call, then the field and what was noted there after the time
-- include: call

local noted = redis.call('HGET', KEYS[1], ARGV[3])
if noted and string.sub(noted, 9) == ARGV[4] then redis.call('HDEL', KEYS[1], ARGV[3]) end
