-- Ends jobs in the plainest way: checks the fence, and removes all of them.
--
-- KEYS  jobs, counters, line, leases
-- ARGV  the fence, ids
local mark, ids, held = struct.pack('>I8', tonumber(ARGV[1])), {}, {}
for n = 2, #ARGV do ids[n - 1] = ARGV[n] end
for n, record in ipairs(redis.call('HMGET', KEYS[1], unpack(ids))) do
  if record and string.sub(record, -8) == mark then held[#held + 1] = ids[n] end
end
redis.call('HDEL', KEYS[1], unpack(held))
redis.call('ZREM', KEYS[4], unpack(held))
