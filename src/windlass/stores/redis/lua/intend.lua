-- Notes that jobs are to be replayed, as soon as something is done in other shards.
--
-- KEYS  those of the shard
-- ARGV  call, queues (none), then the kind: "r" for jobs whose unique keys are to be taken there, "p"
--       for jobs that are to be blocked by parents; and id and key of each, "" if it is not that
-- include: keys call queues

for at = FIRST + 1, #ARGV, 2 do
  redis.call('HSET', OUTBOX, ARGV[FIRST] .. ARGV[at], struct.pack('>i8', NOW) .. ARGV[at + 1])
end
