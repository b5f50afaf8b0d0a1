-- Lists active jobs, claim by claim, whole claims only; of these the caller asks for brief rows.
--
-- KEYS  those of the shard
-- ARGV  call, queues (none), what to show (see show), then the number of jobs after which no other claim is begun, and
--       the fence to begin with
-- Returns the last fence looked at (nil if there was none after it), then ten values for each
-- job (see show).
-- include: keys call queues variadic codes ids waits show

local most, fence = tonumber(ARGV[OWN]), ARGV[OWN + 1]
local bound, seen = fence, 0
while seen < most do
  local found = redis.call('ZRANGEBYSCORE', CLAIMS, bound, '+inf', 'WITHSCORES', 'LIMIT', 0, 1)
  if #found == 0 then return { false, rows } end
  local batch, mark = found[1], struct.pack('>i8', tonumber(found[2]))
  local ids, at = {}, 1
  while at <= #batch do
    local length, start = struct.unpack('>H', batch, at)
    ids[#ids + 1] = string.sub(batch, start, start + length - 1)
    at = start + length
  end
  for n, record in ipairs(many(JOBS, ids)) do
    if record and string.byte(record, 17) == ACTIVE and string.sub(record, -16, -9) == mark then
      show(ids[n], record)
    end
  end
  seen, bound = seen + #ids, '(' .. found[2]
  fence = found[2]
end
return { fence, rows }
