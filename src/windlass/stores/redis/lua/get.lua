-- Looks jobs up by their ids.
--
-- KEYS  those of the shard
-- ARGV  call, queues (none), what to show (see show), then ids
-- Returns ten values for each that is there (see show).
-- include: keys call queues variadic codes ids waits show

local ids = {}
for at = OWN, #ARGV do ids[#ids + 1] = ARGV[at] end
show_all(ids)
return rows
