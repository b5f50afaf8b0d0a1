-- Stops claims from a queue, or allows them again and wakes who waits.
--
-- KEYS  those of the shard, then line and later set of the queue
-- ARGV  call, queues (one), then "1" to pause, "0" to resume
-- include: keys call queues codes record ids index traits rate lanes groups turns standing

local queue = ARGV[5]
if ARGV[FIRST] == '1' then
  redis.call('HSET', COUNTS, 'P' .. queue, 1)
else
  redis.call('HDEL', COUNTS, 'P' .. queue)
end
settle(queue)
