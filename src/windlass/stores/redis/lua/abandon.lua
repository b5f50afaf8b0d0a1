-- Lets the leases of a worker run out, claim by claim, whole claims only.
--
-- KEYS  those of the shard
-- ARGV  call, queues (none), then the worker, the number of jobs after which no other claim is
--       looked at, and from which fence on
-- Returns how many leases it was, and from which fence on there may be more (nil if there is none).
-- include: keys call queues variadic codes record

local worker, most, bound = ARGV[FIRST], tonumber(ARGV[FIRST + 1]), ARGV[FIRST + 2]
local seen, leases = 0, {}

local function held_by_worker(batch, mark)
  local ids, at = {}, 1
  while at <= #batch do
    local length, start = struct.unpack('>H', batch, at)
    ids[#ids + 1] = string.sub(batch, start, start + length - 1)
    at = start + length
  end
  for n, record in ipairs(many(JOBS, ids)) do
    local is_active = record and string.byte(record, 17) == ACTIVE
    local job = is_active and string.sub(record, -16, -9) == mark and sound(ids[n], record)
    local ends = job and job.worker == worker and redis.call('ZSCORE', LEASES, ids[n])
    if ends and tonumber(ends) > NOW then
      leases[#leases + 1] = string.format('%.0f', NOW)
      leases[#leases + 1] = ids[n]
    end
  end
  return #ids
end

while seen < most do
  local found = redis.call('ZRANGEBYSCORE', CLAIMS, bound, '+inf', 'WITHSCORES', 'LIMIT', 0, 1)
  if #found == 0 then
    bound = false
    break
  end
  seen = seen + held_by_worker(found[1], struct.pack('>i8', tonumber(found[2])))
  bound = '(' .. found[2]
end
ALLOW_WHEN_FULL
variadic('ZADD', LEASES, leases)
return { #leases / 2, bound }
