-- Notes how far attempts have come; those whose lease is lost are left out.
--
-- KEYS  those of the shard
-- ARGV  call, queues (none), then id, fence (8 bytes) and progress of each
-- include: keys call queues variadic codes

for at = FIRST, #ARGV, 3 do
  local id, record = ARGV[at], redis.call('HGET', JOBS, ARGV[at])
  if record and string.byte(record, 17) == ACTIVE
    and string.sub(record, -16, -9) == ARGV[at + 1] then
    redis.call('HSET', PROGRESS, id, ARGV[at + 2])
    local more = with(string.byte(record, 20), HAS_PROGRESS)
    local changed = string.sub(record, 1, 19) .. string.char(more) .. string.sub(record, 21)
    redis.call('HSET', JOBS, id, changed)
  end
end
