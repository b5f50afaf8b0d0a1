-- Which of some queues have work now.
--
-- KEYS  the work of the shard
-- ARGV  call, then a number beyond which the queues are looked up one by one, and the queues
-- Returns queues that have work; if there were few in all, also some that were not asked for.
-- include: call

local most = tonumber(ARGV[3])
local found = redis.call('ZRANGEBYSCORE', KEYS[1], '-inf', NOW, 'LIMIT', 0, most)
if #found < most then return found end
local busy = {}
for at = 4, #ARGV, 5000 do
  local last = math.min(at + 4999, #ARGV)
  for n, score in ipairs(redis.call('ZMSCORE', KEYS[1], unpack(ARGV, at, last))) do
    if score and tonumber(score) <= NOW then busy[#busy + 1] = ARGV[at + n - 1] end
  end
end
return busy
