-- Drops finished jobs that were kept long enough, unique keys that were held for their
-- time, and lanes that nobody is in.
--
-- KEYS  those of the shard
-- ARGV  call, queues (none), then the most jobs, which is also the most keys
-- Returns how many jobs it was, and what is owed to other shards (see finish).
-- include: keys call queues variadic codes record ids index traits rate lanes groups turns standing unique sides

-- define: MOST_LANES 250
local limit = tonumber(ARGV[FIRST])
local ids = redis.call('ZRANGEBYSCORE', EXPIRY, '-inf', NOW, 'LIMIT', 0, limit)
local others = #ids
local first = '[' .. string.char(USUAL)
local last = '(' .. struct.pack('>BI8', USUAL, math.max(NOW - DEFAULT_KEEP + 1, 0))
local usual = redis.call('ZRANGEBYLEX', COMPLETED, first, last, 'LIMIT', 0, limit - #ids)
for _, member in ipairs(usual) do ids[#ids + 1] = string.sub(member, 18) end
for n, record in ipairs(many(JOBS, ids)) do
  local ended = is_whole(record, DONE_COMPLETED) or is_whole(record, DONE_CANCELLED)
  if ended and has(string.byte(record, 18), HAS_DONE) > 0 then
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

local over = redis.call('ZRANGEBYSCORE', WINDOWS, '-inf', NOW, 'LIMIT', 0, limit)
for _, key in ipairs(over) do
  if not holder_of(key) then redis.call('HDEL', UNIQUE, key) end
end
variadic('ZREM', WINDOWS, over)
if redis.call('EXISTS', IDLE) == 1 then turns().prune(MOST_LANES) end
return { #ids, owed }
