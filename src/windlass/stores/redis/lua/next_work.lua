-- How long until one of some queues has work.
--
-- KEYS  the work of the shard
-- ARGV  call, then the queues; none means every queue
-- Returns milliseconds, 0 for now, or nil if nothing waits.
-- include: call

local soonest
if #ARGV == 2 then
  soonest = redis.call('ZRANGE', KEYS[1], 0, 0, 'WITHSCORES')[2]
  soonest = soonest and tonumber(soonest)
else
  for at = 3, #ARGV, 5000 do
    local last = math.min(at + 4999, #ARGV)
    for _, score in ipairs(redis.call('ZMSCORE', KEYS[1], unpack(ARGV, at, last))) do
      local time = score and tonumber(score)
      if time and (not soonest or time < soonest) then soonest = time end
    end
  end
end
return soonest and math.max(soonest - NOW, 0)
