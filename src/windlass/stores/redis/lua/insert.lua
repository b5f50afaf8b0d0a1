-- Accepts jobs: pending if their time has come, scheduled if not; blocked or cancelled if they depend
-- on others and these say so.
--
-- KEYS  those of the shard, then line and later set of each queue
-- ARGV  call, queues, then
--       the number of jobs
--       "1" if no two of them have the same id
--       "1" if an id may be held in the name of a job of another shard
--       id and record of each job, the record without its created and place; in it a due time
--       below zero is a delay
--       then the specs of those that are too large for a record, in order
--       then, if some depend on others, what `parents` takes
-- Returns position (from 0) and id for each job that was there before, or whose unique key was
-- held: nothing is changed for it. The id is "" if it was held back and another has let it go. Then
-- what is owed to other shards (see finish), and what `parents` tells.
-- include: keys call queues variadic codes record waits index sides note blocking parents

local number = tonumber(ARGV[FIRST])
local distinct, ask_names = ARGV[FIRST + 1] == '1', ARGV[FIRST + 2] == '1'
local at = FIRST + 3
local large = at + 2 * number

local ids, specs = {}, {}
for n = 1, number do
  ids[n] = ARGV[at + 2 * n - 2]
  if has(string.byte(ARGV[at + 2 * n - 1], 2), HAS_LARGE) > 0 then
    specs[n] = ARGV[large]
    large = large + 1
  end
end
local there = many(JOBS, ids)
local named = {}
if ask_names then named = many(NAMES, ids) end
if large <= #ARGV then
  local unsaid = read_parents(ids, large)
  if unsaid then return { {}, {}, unsaid } end
end

-- Its first write is one that Redis refuses when it is out of memory: all of the call or nothing.
local place = next_place(number) + BIAS
-- define: FEATURES (HAS_DUE + HAS_UNIQUE + HAS_LARGE)
local records, lines, refused, seen = {}, {}, {}, {}
local blocked, held_up = {}, {}

local function refuse(n, id)
  refused[#refused + 1] = n - 1
  refused[#refused + 1] = id
end

-- A job that makes use of something pays for it here.
local function accept(n, job, spec)
  -- Held until all was done elsewhere that it needs; who lets go of it first makes it a job.
  if job.more > 0 then
    job.more = job.more - has(job.more, HELD_BACK)
    if redis.call('HDEL', OUTBOX, 'a' .. job.id) == 0 then
      refuse(n, '')
      return false
    end
    -- What a former job of this id still owes, it does not owe any more.
    redis.call('HDEL', OUTBOX, 'i' .. job.id, 'u' .. job.id)
  end
  if job.unique and has(job.more, REMOTE_KEY) == 0 then
    local holder = redis.call('HGET', UNIQUE, job.unique)
    if holder then
      refuse(n, holder)
      return false
    end
  end
  if job.due < 0 then job.due = NOW - job.due end
  if job.due > NOW then job.state = SCHEDULED end
  if spec then redis.call('HSET', LARGE, job.id, spec) end
  -- Others wait for it already (see waits).
  local awaited = is_ghost(there[n])
  if awaited then job.more = with(job.more, HAS_DEPENDENTS) end
  if kin[n] then heed_parents(job, kin[n]) end
  if job.state == DONE_CANCELLED then
    note(job.id, build(job), false)
    settle_finished(job)
    if awaited and job.keep == 0 then redis.call('HSET', JOBS, job.id, ghost()) end
    return true
  end
  if job.unique and has(job.more, REMOTE_KEY) == 0 then
    redis.call('HSET', UNIQUE, job.unique, job.id)
  end
  index(job)
  save(job)
  return true
end

-- Carried out before, when the answer was lost: the same job, so it was accepted.
local function is_mine(id, former, rest)
  if not AGAIN or not former then return false end
  local job = parse(id, former)
  local asked = parse(id, struct.pack('>i8I8', 0, 0) .. rest)
  return job.queue == asked.queue and job.spec == asked.spec and job.unique == asked.unique
end

for n = 1, number do
  local id, rest = ids[n], ARGV[at + 2 * n - 1]
  local _, flags, _, more, _, length = struct.unpack('>BBBBI4H', rest)
  local awaited = is_ghost(there[n])
  if (there[n] and not awaited) or named[n] or seen[id] then
    if more > 0 then redis.call('HDEL', OUTBOX, 'a' .. id) end
    if not is_mine(id, there[n], rest) then refuse(n, id) end
  else
    local record = struct.pack('>i8I8', NOW, place + n - 1) .. rest
    local accepted, open, why = true, {}, nil
    local simple = more == 0 and has(flags, FEATURES) == 0 and not awaited and not wanted_here[id]
    if simple and kin[n] then open, why = look_at(kin[n]) end
    if simple and not why then
      local queue = string.sub(rest, 11, 10 + length)
      if #open > 0 then
        add_waits(id, wait_for(open, kin[n].runs_anyway, id, queue))
        record = string.sub(record, 1, 16) .. string.char(IS_BLOCKED) .. string.sub(record, 18)
        blocked[#blocked + 1] = 0
        blocked[#blocked + 1] = readable(id)
        held_up[queue] = (held_up[queue] or 0) + 1
      else
        local line = lines[queue]
        if not line then
          line = {}
          lines[queue] = line
        end
        local priority = string.byte(rest, 3)
        line[#line + 1] = place - BIAS + n - 1 - (priority - DEFAULT_PRIORITY) * PRIORITY_STEP
        line[#line + 1] = id
      end
      records[#records + 1] = id
      records[#records + 1] = record
    else
      accepted = accept(n, parse(id, record), specs[n])
    end
    if accepted and not distinct then seen[id] = true end
  end
end

variadic('HSET', JOBS, records)
variadic('ZADD', BLOCKED, blocked)
for queue, some in pairs(held_up) do count(queue, IS_BLOCKED, some) end
for queue, line in pairs(lines) do
  variadic('ZADD', LINE[queue], line)
  count(queue, PENDING, #line / 2)
end
write_edges()
write_index(true)
return { refused, owed, {} }
