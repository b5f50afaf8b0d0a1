-- Takes the unique key off a live job, for another that follows it.
--
-- KEYS  those of the shard of the job
-- ARGV  call, queues (none), then the job and the key
-- include: keys call queues variadic codes record ids waits index traits rate lanes groups turns standing unique sides blocking replacing

local job = live_holder(ARGV[FIRST], ARGV[FIRST + 1])
if job then yield_key(job) end
