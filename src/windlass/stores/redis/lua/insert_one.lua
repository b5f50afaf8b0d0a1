-- Accepts one plain job, which is what most callers bring. What `insert_plain` does, without the
-- lists that many jobs are put into.
--
-- KEYS  the first four of the shard, and the line of the queue
-- ARGV  call, then the channel on which waiting workers listen, the queue, the job's priority, its
--       id, and its record without its created and place
-- Returns 1 if it was accepted, 0 if a job of this id was there before.
-- include: keys call codes

-- Its first write is one that Redis refuses when it is out of memory: all or nothing.
local place = redis.call('HINCRBY', META, 'back', 1)
local queue, id, rest = ARGV[4], ARGV[6], ARGV[7]
local record = struct.pack('>i8I8', NOW, place + BIAS) .. rest
local former
if redis.call('HSETNX', JOBS, id, record) == 0 then
  former = redis.call('HGET', JOBS, id)
  if string.byte(former, 17) ~= GHOST then
    if not AGAIN then return 0 end
    -- Carried out before, when the answer was lost: the same job, so it was accepted.
    return string.sub(former, 27, 16 + #rest) == string.sub(rest, 11) and 1 or 0
  end
  -- Others wait for it already (see waits).
  local awaited = string.sub(record, 1, 19) .. string.char(HAS_DEPENDENTS) .. string.sub(record, 21)
  redis.call('HSET', JOBS, id, awaited)
end
local score = place - (ARGV[5] - DEFAULT_PRIORITY) * PRIORITY_STEP
local added = unspoilt(redis.pcall('ZADD', KEYS[5], score, id))
if type(added) ~= 'number' then
  -- Somebody else has written over the line: it was not accepted, and nothing of it stays.
  redis.call('HDEL', JOBS, id)
  if former then redis.call('HSET', JOBS, id, former) end
  return redis.error_reply('WRONGTYPE the key ' .. KEYS[5] .. ' is no sorted set')
end

-- A queue that had nothing has work now. While it has pending jobs it is known to. A count that somebody
-- else wrote over is no number, and begins anew.
local pending = unspoilt(redis.pcall('HINCRBY', COUNTS, PENDING .. queue, 1))
if type(pending) ~= 'number' then
  redis.call('HSET', COUNTS, PENDING .. queue, 1)
  pending = 1
end
if pending == 1
  and redis.call('ZSCORE', WORK, queue) ~= '0'
  and redis.call('HEXISTS', COUNTS, 'P' .. queue) == 0 then
  redis.call('ZADD', WORK, 0, queue)
  redis.pcall('PUBLISH', ARGV[3], queue)
end
return 1
