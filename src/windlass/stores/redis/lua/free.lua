-- Gives up names that jobs of other shards had.
--
-- KEYS  those of the shard that is the home of these names
-- ARGV  call, queues (none), then the kind, and name and owner of each (see reserve)
-- include: keys call queues codes unique

for at = FIRST + 1, #ARGV, 2 do
  local name, owner = ARGV[at], ARGV[at + 1]
  if ARGV[FIRST] == 'u' then
    give_up_key(name, owner)
  elseif redis.call('HGET', NAMES, name) == owner then
    redis.call('HDEL', NAMES, name)
  end
end
