-- Makes due jobs pending, and tells which queues have any to give. For claims that go to several
-- shards: none is asked for nothing, and jobs come due whoever is asked.
--
-- KEYS  those of the shard, then line and later set of each queue
-- ARGV  call, queues, then the most due jobs to make pending
-- Returns the queues that have pending jobs and are not paused.
-- include: keys call queues variadic codes record ids index traits rate lanes groups turns standing promote

promote(tonumber(ARGV[FIRST]))
write_index()
local ready = {}
for n = 1, QUEUES do
  local queue = ARGV[4 + n]
  if redis.call('ZSCORE', WORK, queue) == '0' then ready[#ready + 1] = queue end
end
return ready
