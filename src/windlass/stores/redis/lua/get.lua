-- Looks jobs up by their ids.
--
-- KEYS  those of the shard
-- ARGV  call, queues (none), then ids
-- Returns ten values for each that is there (see show).
-- include: keys call queues variadic codes ids waits show

local ids = {}
for at = FIRST, #ARGV do ids[#ids + 1] = ARGV[at] end
for n, record in ipairs(many(JOBS, ids)) do show(ids[n], record) end
return rows
