-- Takes in jobs of another store as they were there; none of them is active.
--
-- KEYS  those of the shard, then line and later set of each queue
-- ARGV  call, queues, then
--       the number of jobs
--       "1" if an id may be held in the name of a job of another shard
--       the greatest fence that one of them had
--       id, record and sides of each: the record without its place; what its flags say is kept
--       beside it, in the order of `sides`, each after its length I4
--       if it is one and blocked, what comes after its id in each wait (see waits)
-- Returns, as insert does, of jobs that were not taken in: position (from 0) and id of the job that
-- is in the way, "" if it was held back and another has let it go. Then what is owed to dependents
-- (see endings).
-- include: keys call queues variadic codes record ids waits index traits rate lanes groups turns standing unique sides endings blocking

local number, ask_names = tonumber(ARGV[FIRST]), ARGV[FIRST + 1] == '1'
local fence, at = ARGV[FIRST + 2], FIRST + 3
local wrong = unusable()
if wrong then return wrong end

local ids = {}
for n = 1, number do ids[n] = ARGV[at + 3 * n - 3] end
local there = many(JOBS, ids)
local named = {}
if ask_names then named = many(NAMES, ids) end

-- Its first write is one that Redis refuses when it is out of memory: all of the call or nothing.
local place = next_place(number)
if tonumber(fence) > tonumber(redis.call('HGET', META, 'fence') or 0) then
  redis.call('HSET', META, 'fence', fence)
end

local refused, seen = {}, {}
local function refuse(n, id)
  refused[#refused + 1] = n - 1
  refused[#refused + 1] = id
end

-- Carried out before, when the answer was lost: the same job, so it was taken in.
local function is_mine(job, former)
  local mine = AGAIN and sound(job.id, former)
  return mine and mine.created == job.created and mine.queue == job.queue and mine.spec == job.spec
    and mine.unique == job.unique and mine.fence == job.fence and mine.state == job.state
end

-- Whether its unique key is its own, or kept for it elsewhere, or not asked for.
local function has_key(job)
  if not job.unique or FINISHED[job.state] or has(job.more, REMOTE_KEY) > 0 then return true end
  if holder_of(job.unique) then return false end
  hold_key(job.unique, job.id)
  return true
end

-- Held until its names were taken elsewhere; who lets go of it first makes it a job.
local function let_go(job)
  if has(job.more, BY_STEPS) == 0 then return true end
  job.more = job.more - has(job.more, HELD_BACK)
  if redis.call('HDEL', OUTBOX, 'b' .. job.id) == 0 then return false end
  -- What a former job of this id still owes, it does not owe any more.
  redis.call('HDEL', OUTBOX, 'i' .. job.id, 'u' .. job.id)
  return true
end

local function keep_sides(job, sides)
  local from = 1
  for _, side in ipairs(SIDES) do
    if has(job[side[1]], side[2]) > 0 then
      local length, start = struct.unpack('>I4', sides, from)
      from = start + length
      redis.call('HSET', side[3], job.id, string.sub(sides, start, from - 1))
    end
  end
end

for n = 1, number do
  local job = parse(ids[n], ARGV[at + 3 * n - 2])
  local awaited = is_ghost(there[n])
  if (there[n] and not awaited) or named[n] or seen[job.id] then
    if has(job.more, BY_STEPS) > 0 then redis.call('HDEL', OUTBOX, 'b' .. job.id) end
    if not is_mine(job, there[n]) then refuse(n, job.id) end
  elseif not let_go(job) then
    refuse(n, '')
  elseif not has_key(job) then
    refuse(n, holder_of(job.unique))
  else
    job.place, job.at_end = place + n - 1, true
    keep_sides(job, ARGV[at + 3 * n - 1])
    if job.more >= HAS_TRAITS then turns().set_limits(job) end
    if job.state == IS_BLOCKED then add_waits(job.id, arguments(at + 3 * number)) end
    if awaited then
      job.more = with(job.more, HAS_DEPENDENTS)
      if FINISHED[job.state] then end_for_dependents(job, job.state) end
    end
    index(job)
    save(job)
    seen[job.id] = true
  end
end
write_edges()
write_index(true)
return { refused, write_endings() }
