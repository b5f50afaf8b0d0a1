-- Accepts jobs in the plainest way: a record in a hash, an id in a line.
--
-- KEYS  jobs, counters, line, leases
-- ARGV  "list" or "set" (what the line is), then id and record of each job
local ids, records, line = {}, {}, {}
local number = (#ARGV - 1) / 2
local place = redis.call('HINCRBY', KEYS[2], 'back', number) - number
for n = 1, number do ids[n] = ARGV[2 * n] end
local there = redis.call('HMGET', KEYS[1], unpack(ids))
for n = 1, number do
  if not there[n] then
    records[#records + 1] = ids[n]
    records[#records + 1] = struct.pack('>I8', place + n) .. ARGV[2 * n + 1]
    if ARGV[1] == 'set' then line[#line + 1] = place + n end
    line[#line + 1] = ids[n]
  end
end
redis.call('HSET', KEYS[1], unpack(records))
redis.call(ARGV[1] == 'set' and 'ZADD' or 'RPUSH', KEYS[3], unpack(line))
