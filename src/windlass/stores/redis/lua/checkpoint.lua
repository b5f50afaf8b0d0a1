-- Keeps what attempts leave for the next one.
--
-- KEYS  those of the shard
-- ARGV  call, queues (none), then id, fence (8 bytes) and what it leaves of each
-- Returns the positions (from 0) of those whose lease is lost.
-- include: keys call queues variadic codes

local lost = {}
for at = FIRST, #ARGV, 3 do
  local id, record = ARGV[at], redis.call('HGET', JOBS, ARGV[at])
  if record and string.byte(record, 17) == ACTIVE
    and string.sub(record, -16, -9) == ARGV[at + 1] then
    redis.call('HSET', CHECKPOINTS, id, ARGV[at + 2])
    local more = string.byte(record, 20)
    if has(more, HAS_CHECKPOINT) == 0 then
      local flag = string.char(more + HAS_CHECKPOINT)
      redis.call('HSET', JOBS, id, string.sub(record, 1, 19) .. flag .. string.sub(record, 21))
    end
  else
    lost[#lost + 1] = (at - FIRST) / 3
  end
end
return lost
