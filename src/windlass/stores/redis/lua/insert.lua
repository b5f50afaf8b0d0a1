-- Accepts jobs: pending if their time has come, scheduled if not; blocked or cancelled if they depend
-- on others and these say so.
--
-- KEYS  those of the shard, then line and later set of each queue
-- ARGV  call, queues, then
--       the number of jobs
--       "1" if no two of them have the same id
--       "1" if an id may be held in the name of a job of another shard
--       id and record of each job, the record without its created and place; in it a due time
--       below zero is a delay, and the attempt is what is to be done if the unique key is held (see
--       clash); its traits come after it
--       then the specs of those that are too large for a record, in order
--       then what `clash` takes
--       then, if some depend on others, what `parents` takes
-- Returns position (from 0) and id for each job that was there before, or whose unique key was
-- held: nothing is changed for it, but that its holder may have been replaced. The id is "" if it was
-- held back and another has let it go. Then what is owed to other shards (see finish), and what
-- `clash` or `parents` tell.
-- include: keys call queues variadic codes record ids waits index traits rate lanes groups turns standing unique sides note blocking parents replacing clash

local number = tonumber(ARGV[FIRST])
local distinct, ask_names = ARGV[FIRST + 1] == '1', ARGV[FIRST + 2] == '1'
local at = FIRST + 3
local wrong = unusable()
if wrong then return wrong end
local large = at + 2 * number

local ids, rests, specs, traits = {}, {}, {}, {}
for n = 1, number do
  local rest = ARGV[at + 2 * n - 1]
  local flags, _, more = string.byte(rest, 2, 4)
  ids[n] = ARGV[at + 2 * n - 2]
  if has(more, HAS_TRAITS) > 0 then rest, traits[n] = without_traits(rest) end
  rests[n] = rest
  if has(flags, HAS_LARGE) > 0 then
    specs[n] = ARGV[large]
    large = large + 1
  end
end
local there = many(JOBS, ids)
local named = {}
if ask_names then named = many(NAMES, ids) end

-- A new job; `record` is all but what it brought beside it.
local function new_of(n, record)
  local job = parse(ids[n], record)
  if traits[n] then job.traits, job.at_end = read_traits(traits[n]), true end
  if job.attempt > 0 then job.conflict, job.attempt = job.attempt, 0 end
  return job
end

local last = read_followers(large)
local unsaid = foresee(function(n)
  if (there[n] and not is_ghost(there[n])) or named[n] then return nil end
  return new_of(n, struct.pack('>i8I8', NOW, BIAS) .. rests[n])
end)
if not unsaid and last <= #ARGV then unsaid = read_parents(ids, last) end
if unsaid then return { {}, {}, unsaid } end

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
  local stepped = has(job.more, BY_STEPS) > 0
  if stepped then
    job.more = job.more - has(job.more, HELD_BACK)
    if redis.call('HDEL', OUTBOX, 'a' .. job.id) == 0 then
      refuse(n, '')
      return false
    end
    -- What a former job of this id still owes, it does not owe any more.
    redis.call('HDEL', OUTBOX, 'i' .. job.id, 'u' .. job.id)
  end
  local key, window = key_of(job)
  if has(job.more, REMOTE_KEY) > 0 then key = nil end
  local holder = key and holder_of(key)
  -- Its own if it was taken over for it.
  if holder and not (stepped and holder == job.id) then
    local heir, tails
    heir, spec, tails = clash(n, job, spec, holder)
    if not heir then
      refuse(n, holder)
      return false
    end
    job, kin[n] = heir, { tails = tails }
  end
  set_time(job)
  if spec then redis.call('HSET', LARGE, job.id, spec) end
  if job.traits then turns().set_limits(job) end
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
  if key then hold_key(key, job.id, window) end
  index(job)
  save(job)
  return true
end

-- Carried out before, when the answer was lost: the same job, so it was accepted.
local function is_mine(n, former)
  local job = AGAIN and sound(ids[n], former)
  if not job then return false end
  if of_this_call(traits_of(job)[REPLACED_BY]) then return true end
  for _, rest in ipairs({ rests[n], followers[n] and followers[n].rest }) do
    local asked = parse(ids[n], struct.pack('>i8I8', 0, 0) .. rest)
    if job.queue == asked.queue and job.spec == asked.spec
      and (job.unique == asked.unique or not job.unique) then
      return true
    end
  end
  return false
end

for n = 1, number do
  local id, rest = ids[n], rests[n]
  local _, flags, _, more, _, length = struct.unpack('>BBBBI4H', rest)
  local awaited = is_ghost(there[n])
  if (there[n] and not awaited) or named[n] or seen[id] then
    -- If its note is gone and it is there, it is this very job that another has let go.
    local gone = has(more, BY_STEPS) > 0 and redis.call('HDEL', OUTBOX, 'a' .. id) == 0
    if not is_mine(n, there[n]) then refuse(n, gone and there[n] and '' or id) end
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
      accepted = accept(n, new_of(n, record), specs[n])
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
