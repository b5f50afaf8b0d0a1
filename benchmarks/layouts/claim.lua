-- Claims jobs in the plainest way: takes ids off the line, notes the fence, gives each a lease.
--
-- KEYS  jobs, counters, line, leases
-- ARGV  "list" or "set" (what the line is), the number of jobs, until when the lease is good
-- Returns fence, ids, records.
local ids
if ARGV[1] == 'set' then
  ids = redis.call('ZRANGE', KEYS[3], 0, ARGV[2] - 1)
  if #ids > 0 then redis.call('ZREMRANGEBYRANK', KEYS[3], 0, #ids - 1) end
else
  ids = redis.call('LPOP', KEYS[3], ARGV[2]) or {}
end
if #ids == 0 then return { 0, ids, ids } end
local fence = redis.call('HINCRBY', KEYS[2], 'fence', 1)
local mark = struct.pack('>I8', fence)
local records = redis.call('HMGET', KEYS[1], unpack(ids))
local after, leases = {}, {}
for n, id in ipairs(ids) do
  after[2 * n - 1], after[2 * n] = id, records[n] .. mark
  leases[2 * n - 1], leases[2 * n] = ARGV[3], id
end
redis.call('HSET', KEYS[1], unpack(after))
redis.call('ZADD', KEYS[4], unpack(leases))
return { fence, ids, records }
