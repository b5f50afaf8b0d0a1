-- Gives up names that jobs of other shards had.
--
-- KEYS  those of the shard that is the home of these names
-- ARGV  call, queues (none), then the kind, and name and owner of each (see reserve)
-- include: keys call queues

local names = ARGV[FIRST] == 'u' and UNIQUE or NAMES
for at = FIRST + 1, #ARGV, 2 do
  if redis.call('HGET', names, ARGV[at]) == ARGV[at + 1] then redis.call('HDEL', names, ARGV[at]) end
end
