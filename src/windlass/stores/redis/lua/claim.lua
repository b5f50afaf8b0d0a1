-- Hands pending jobs to a worker, those whose time has come included.
--
-- KEYS  those of the shard, line and later set of each queue, then the worker's token
-- ARGV  call, queues (in the order of preference), then
--       the lease in milliseconds, the worker, the token of this claim,
--       the most jobs in all, the most due jobs to make pending, the fence to go beyond,
--       the most bytes, how many jobs the worker got elsewhere by this claim,
--       the most jobs of each queue
-- Returns fence, time, "1" if this is the repetition of a claim whose answer was lost, ids, and
-- the records as they were before (of a repetition: as they are); what is owed to other shards (see
-- finish); how many of them count for the most that there may be; how many bytes are left, less than
-- none if it ended before a job for which they were too few.
-- include: keys call queues variadic codes record ids index traits rate lanes groups turns standing promote starting
-- define: NEEDS_TURNS redis.call('EXISTS', TRAITS) == 1

-- define: MOST_CLAIMED 500
local lease, worker, token = tonumber(ARGV[FIRST]), ARGV[FIRST + 1], ARGV[FIRST + 2]
local limit, most_due = tonumber(ARGV[FIRST + 3]), tonumber(ARGV[FIRST + 4])
local left, elsewhere = tonumber(ARGV[FIRST + 6]), tonumber(ARGV[FIRST + 7])
local TOKEN = KEYS[FIXED_KEYS + 2 * QUEUES + 1]
local until_then = string.format('%.0f', NOW + lease)

-- The same token again: what was claimed then and is still held is the answer, once more.
local function repeated(fence)
  local ids, records, leases = {}, {}, {}
  local mark = struct.pack('>i8', fence)
  for _, batch in ipairs(redis.call('ZRANGEBYSCORE', CLAIMS, fence, fence)) do
    local at = 1
    while at <= #batch do
      local length, start = struct.unpack('>H', batch, at)
      local id = string.sub(batch, start, start + length - 1)
      local record = redis.call('HGET', JOBS, id)
      if record and string.byte(record, 17) == ACTIVE and string.sub(record, -16, -9) == mark then
        ids[#ids + 1], records[#records + 1] = id, record
        leases[#leases + 1] = until_then
        leases[#leases + 1] = id
      end
      at = start + length
    end
  end
  ALLOW_WHEN_FULL
  variadic('ZADD', LEASES, leases)
  return { fence, NOW, 1, ids, records, {}, #ids, left }
end

-- The last claims of the worker, one to a line: it may have had several under way.
local claims = unspoilt(redis.pcall('GET', TOKEN))
if type(claims) ~= 'string' then claims = '' end
local at = string.find('\n' .. claims, '\n' .. token .. ' ', 1, true)
if at then return repeated(tonumber(string.match(claims, '^%d+', at + #token + 1))) end

promote(most_due)
if opened then opened.settle() end

local flags = {}
for n = 1, QUEUES do flags[n] = 'P' .. ARGV[4 + n] end
local paused = many(COUNTS, flags)

local fence, tail
local ids, before, after, leases, batch = {}, {}, {}, {}, {}
local lengths = {}

local sub, byte = string.sub, string.byte

-- The eight bytes of a record that change when it is claimed for the first time, by flags and
-- priority: nearly all jobs share a few. Dependents change nothing about it.
local heads = {}
local function head_of(flags, priority, more)
  local key = (flags * 256 + priority) * 256 + more
  local head = heads[key]
  if not head then
    head = struct.pack('>BBBBI4', ACTIVE, flags + HAS_RUN, priority, more, 1)
    heads[key] = head
  end
  return head
end

-- A job that was claimed before, or has more than most.
local function claimed_again(id, record)
  local _, flags, priority, more, attempt = struct.unpack('>BBBBI4', record, 17)
  local last = #record
  if has(flags, HAS_RUN) > 0 then
    last = last - 18 - struct.unpack('>H', record, last - 17)
  end
  if has(more, HAS_PROGRESS) > 0 then
    redis.call('HDEL', PROGRESS, id)
    more = more - HAS_PROGRESS
  end
  local head = struct.pack('>BBBBI4', ACTIVE, with(flags, HAS_RUN), priority, more, attempt + 1)
  return string.sub(record, 1, 16) .. head .. string.sub(record, 25, last) .. tail
end

-- Claims jobs that were taken off the line, and right behind each those that come along; how many
-- were of the line.
local function take(found, records, queue)
  local n, m, size, along_to, beside = #ids, 0, #found, 0, 0
  while m < size and (n < MOST_CLAIMED or m < along_to) do
    n, m = n + 1, m + 1
    local id, record = found[m], whole(records[m], PENDING, queue)
    if record ~= records[m] then record = mended(id, record) end
    local _, flags, priority, more = byte(record, 17, 20)
    if m > along_to then
      left = left - #record
      if flags >= HAS_LARGE and has(flags, HAS_LARGE) > 0 then
        left = left - redis.call('HSTRLEN', LARGE, id)
      end
      if left < 0 and n + elsewhere > 1 then
        m = m - 1
        break
      end
    end
    ids[n], before[n] = id, record
    after[2 * n - 1] = id
    -- Without a run there was no attempt.
    if flags < HAS_RUN and (more == 0 or more == HAS_DEPENDENTS) then
      after[2 * n] = sub(record, 1, 16) .. head_of(flags, priority, more) .. sub(record, 25) .. tail
    else
      if more >= HAS_TRAITS then
        local along
        record, along, left = started(id, record, m > along_to, left)
        for k = 1, #along do
          table.insert(found, m + k, along[k][1])
          table.insert(records, m + k, along[k][2])
        end
        if #along > 0 then
          size, beside, along_to = size + #along, beside + #along, m + #along
        end
      end
      after[2 * n] = claimed_again(id, record)
    end
    leases[2 * n - 1], leases[2 * n] = until_then, id
    local length = lengths[#id]
    if not length then
      length = struct.pack('>H', #id)
      lengths[#id] = length
    end
    batch[2 * n - 1], batch[2 * n] = length, id
  end
  -- So many came along, or they are so large, that the others are left for the next claim.
  for k = m + 1, size do
    redis.call('ZADD', LINE[queue], score(parse(found[k], whole(records[k], PENDING, queue))), found[k])
  end
  return m - beside
end

local led = 0
for n = 1, QUEUES do
  local queue = ARGV[4 + n]
  local most = math.min(tonumber(ARGV[FIRST + 7 + n]), limit - led)
  if most > 0 and left >= 0 and not paused[n] then
    local found = unspoilt(redis.pcall('ZRANGE', LINE[queue], 0, most - 1))
    if #found > 0 then
      redis.call('ZREMRANGEBYRANK', LINE[queue], 0, #found - 1)
      if not fence then
        fence = next_fence(ARGV[FIRST + 5])
        tail = worker .. struct.pack('>Hi8i8', #worker, fence, NOW)
      end
      local taken = take(found, many(JOBS, found), queue)
      count(queue, PENDING, -taken)
      count(queue, ACTIVE, taken)
      led = led + taken
    end
  end
end

if fence then
  variadic('HSET', JOBS, after)
  variadic('ZADD', LEASES, leases)
  redis.call('ZADD', CLAIMS, fence, table.concat(batch))
  redis.call('HSET', HELD, fence, #ids)
  local before_it = string.match(claims, '^[^\n]*\n?[^\n]*')
  local noted = token .. string.format(' %.0f', fence) .. '\n' .. before_it
  redis.call('SET', TOKEN, noted, 'PX', math.max(lease, 60000))
end
write_index()
return { fence or 0, NOW, 0, ids, before, owed, led, left }
