-- Drops entries of the journal, and the journal with the last of them.
--
-- KEYS  the journal
-- ARGV  call, then the numbers of the entries
-- include: variadic

variadic('XDEL', KEYS[1], { unpack(ARGV, 3) })
if redis.call('XLEN', KEYS[1]) == 0 then redis.call('DEL', KEYS[1]) end
