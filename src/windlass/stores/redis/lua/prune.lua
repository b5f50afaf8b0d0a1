-- Drops finished jobs that were kept long enough.
--
-- KEYS  those of the shard
-- ARGV  call, queues (none), then the most jobs
-- Returns how many it was, and what is owed to other shards (see finish).
-- include: keys call queues variadic codes record index sides

local limit = tonumber(ARGV[FIRST])
local ids = redis.call('ZRANGEBYSCORE', EXPIRY, '-inf', NOW, 'LIMIT', 0, limit)
local others = #ids
local first = '[' .. string.char(USUAL)
local last = '(' .. struct.pack('>BI8', USUAL, math.max(NOW - DEFAULT_KEEP + 1, 0))
local usual = redis.call('ZRANGEBYLEX', COMPLETED, first, last, 'LIMIT', 0, limit - #ids)
for _, member in ipairs(usual) do ids[#ids + 1] = string.sub(member, 18) end
for n, record in ipairs(many(JOBS, ids)) do
  if is_whole(record, DONE_COMPLETED) or is_whole(record, DONE_CANCELLED) then
    local job = parse(ids[n], record)
    unindex(job)
    remove(job)
  else
    -- Damaged: all that is known is where it was found.
    redis.call('HDEL', JOBS, ids[n])
    redis.call('ZREM', EXPIRY, ids[n])
    if n > others then redis.call('ZREM', COMPLETED, usual[n - others]) end
  end
end
write_index()
return { #ids, owed }
