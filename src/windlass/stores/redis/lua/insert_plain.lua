-- Accepts jobs that make use of nothing special: no delay, no unique key, no large spec. What
-- `insert` does for these alone, without all that they would not need.
--
-- KEYS  the first four of the shard, then line and later set of each queue
-- ARGV  call, queues, then the number of jobs, "1" if no two of them have the same id, and id
--       and record of each, the record without its created and place
-- Returns position (from 0) and id for each job that was there before.
-- include: keys call queues variadic codes
-- define: FIXED_KEYS 4

local number, distinct = tonumber(ARGV[FIRST]), ARGV[FIRST + 1] == '1'
local at = FIRST + 2
local wrong = unusable()
if wrong then return wrong end

-- A queue that had nothing has work now. While it has pending jobs it is known to. A count that somebody
-- else wrote over is no number, and begins anew.
local function tell(queue, added)
  local pending = unspoilt(redis.pcall('HINCRBY', COUNTS, PENDING .. queue, added))
  if type(pending) ~= 'number' then
    redis.call('HSET', COUNTS, PENDING .. queue, added)
    pending = added
  end
  if pending == added and redis.call('ZSCORE', WORK, queue) ~= '0'
    and redis.call('HEXISTS', COUNTS, 'P' .. queue) == 0 then
    redis.call('ZADD', WORK, 0, queue)
    redis.pcall('PUBLISH', CHANNEL, queue)
  end
end

-- Carried out before, when the answer was lost: the same job, so it was accepted.
local function is_mine(former, rest)
  return AGAIN and former and string.sub(former, 27, 16 + #rest) == string.sub(rest, 11)
end

-- Its first write is one that Redis refuses when it is out of memory: all of the call or nothing.
local place = redis.call('HINCRBY', META, 'back', number) - number

local ids = {}
for n = 1, number do ids[n] = ARGV[at + 2 * n - 2] end
local there = many(JOBS, ids)
local records, lines, refused, seen = {}, {}, {}, {}
for n = 1, number do
  local id, rest = ids[n], ARGV[at + 2 * n - 1]
  local awaited = there[n] and string.byte(there[n], 17) == GHOST
  if (there[n] and not awaited) or seen[id] then
    if not is_mine(there[n], rest) then
      refused[#refused + 1] = n - 1
      refused[#refused + 1] = id
    end
  else
    local _, _, priority, _, _, length = struct.unpack('>BBBBI4H', rest)
    local queue = string.sub(rest, 11, 10 + length)
    local line = lines[queue]
    if not line then
      line = {}
      lines[queue] = line
    end
    records[#records + 1] = id
    if awaited then
      rest = string.sub(rest, 1, 3) .. string.char(HAS_DEPENDENTS) .. string.sub(rest, 5)
    end
    records[#records + 1] = struct.pack('>i8I8', NOW, place + n + BIAS) .. rest
    line[#line + 1] = place + n - (priority - DEFAULT_PRIORITY) * PRIORITY_STEP
    line[#line + 1] = id
    if not distinct then seen[id] = true end
  end
end

variadic('HSET', JOBS, records)
for queue, line in pairs(lines) do
  variadic('ZADD', LINE[queue], line)
  tell(queue, #line / 2)
end
return refused
