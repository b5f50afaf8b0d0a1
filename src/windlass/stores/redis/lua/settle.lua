-- Drops edges whose dependents were seen to in other shards, and endings that have no other.
--
-- KEYS  those of the shard of the parents
-- ARGV  call, queues (none), then for each ending: the ending, how many edges, these
-- include: keys call queues variadic codes ids waits settling

local at = FIRST
while at <= #ARGV do
  local ending, edges, number = ARGV[at], {}, tonumber(ARGV[at + 1])
  for n = 1, number do edges[n] = ARGV[at + 1 + n] end
  variadic('ZREM', DEPENDENTS, edges)
  if #edges_of(ending, 1) == 0 then
    redis.call('ZREM', ENDINGS, ending)
    drop_ghost(string.sub(parent_of(ending), 3))
  end
  at = at + 2 + number
end
