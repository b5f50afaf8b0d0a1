-- Where a job stands besides its record, by its state; and what is told to those who wait.
-- Scripts that may meet a blocked job include `waits` before it.
local FINISHED = {
  [DONE_COMPLETED] = COMPLETED, [DONE_DEAD] = DEAD, [DONE_CANCELLED] = CANCELLED,
}

local function score(job)
  return job.place - (job.priority - DEFAULT_PRIORITY) * PRIORITY_STEP
end

-- Sorts by state, due time and place.
local function moment(state, due, place)
  return struct.pack('>BI8I8', state, math.max(due, 0), place + BIAS)
end

local function later_member(job) return moment(job.state, job.due, job.place) .. job.id end

-- Completed jobs that are kept for as long as most are need no expiry of their own: they expire
-- in the order in which they are listed. Those of another term are listed beside them.
-- define: USUAL 0
-- define: OTHER 1
local function term(job)
  local usual = job.state == DONE_COMPLETED and job.keep == DEFAULT_KEEP
  return usual and USUAL or OTHER
end

local function finished_member(job)
  return struct.pack('>BI8I8', term(job), job.finished, job.place + BIAS) .. job.id
end

-- Counts are kept by state and queue; a field that comes to nothing goes.
local changes = {}
local function count(queue, state, number)
  local field = state .. queue
  changes[field] = (changes[field] or 0) + number
end

local function write_counts()
  for field, number in pairs(changes) do
    if number ~= 0 and redis.call('HINCRBY', COUNTS, field, number) == 0 then
      redis.call('HDEL', COUNTS, field)
    end
  end
end

-- How many jobs each claim still holds; one that holds none is forgotten.
local function drop_claims(dropped)
  for fence, number in pairs(dropped) do
    if redis.call('HINCRBY', HELD, fence, -number) <= 0 then
      redis.call('HDEL', HELD, fence)
      redis.call('ZREMRANGEBYSCORE', CLAIMS, fence, fence)
    end
  end
end

local dropped = {}
local function unindex(job)
  count(job.queue, job.state, -1)
  if job.state == PENDING then
    redis.call('ZREM', LINE[job.queue], job.id)
  elseif job.state == SCHEDULED or job.state == RETRY then
    redis.call('ZREM', LATER[job.queue], later_member(job))
  elseif job.state == ACTIVE then
    redis.call('ZREM', LEASES, job.id)
    local fence = string.format('%.0f', job.fence)
    dropped[fence] = (dropped[fence] or 0) + 1
  elseif job.state == IS_BLOCKED then
    redis.call('ZREM', BLOCKED, readable(job.id))
    forget_waits(job.id)
  elseif FINISHED[job.state] then
    redis.call('ZREM', FINISHED[job.state], finished_member(job))
    if term(job) == OTHER then redis.call('ZREM', EXPIRY, job.id) end
  end
end

local function index(job)
  count(job.queue, job.state, 1)
  if job.state == PENDING then
    redis.call('ZADD', LINE[job.queue], score(job), job.id)
  elseif job.state == SCHEDULED or job.state == RETRY then
    redis.call('ZADD', LATER[job.queue], 0, later_member(job))
  elseif job.state == IS_BLOCKED then
    redis.call('ZADD', BLOCKED, 0, readable(job.id))
  elseif FINISHED[job.state] then
    redis.call('ZADD', FINISHED[job.state], 0, finished_member(job))
    if job.state ~= DONE_DEAD and term(job) == OTHER then
      redis.call('ZADD', EXPIRY, job.finished + job.keep, job.id)
    end
  end
end

local function save(job)
  redis.call('HSET', JOBS, job.id, build(job))
end

-- A place at the end of the line, after all that were given out before.
local function next_place(number)
  number = number or 1
  return redis.call('HINCRBY', META, 'back', number) - number + 1
end

-- A fence that is greater than all before it. Of several shards each counts by itself: there it
-- also goes by the time and by what the caller has seen, so that it is greater than what another
-- shard gave to a former job of the same id.
local function next_fence(beyond)
  local step = 1
  if beyond ~= '' then
    local last = tonumber(redis.call('HGET', META, 'fence') or 0)
    step = math.max(last, tonumber(beyond), NOW * 1024) - last + 1
  end
  return redis.call('HINCRBY', META, 'fence', string.format('%.0f', step))
end

-- The score of a queue in WORK: 0 while it has pending jobs, else the time of its next one.
local function next_work(queue)
  if redis.call('HEXISTS', COUNTS, 'P' .. queue) == 1 then return nil end
  if redis.call('EXISTS', LINE[queue]) == 1 then return 0 end
  local soonest
  for _, state in ipairs({ SCHEDULED, RETRY }) do
    local low, high = '[' .. string.char(state), '(' .. string.char(state + 1)
    local first = redis.call('ZRANGEBYLEX', LATER[queue], low, high, 'LIMIT', 0, 1)[1]
    if first then
      local due = struct.unpack('>I8', first, 2)
      if not soonest or due < soonest then soonest = due end
    end
  end
  return soonest
end

-- Brings WORK up to date for a queue, and wakes who waits if there is something sooner. A queue
-- that has work now and only `grew` needs no look.
local function settle(queue, grew)
  local before = redis.call('ZSCORE', WORK, queue)
  if grew and before == '0' then return end
  local after = next_work(queue)
  before = before and tonumber(before)
  if before == after then return end
  if not after then
    redis.call('ZREM', WORK, queue)
    return
  end
  redis.call('ZADD', WORK, after, queue)
  if not before or after < before then redis.call('PUBLISH', CHANNEL, queue) end
end

-- The end of every script that changed something.
local function write_index(grew)
  drop_claims(dropped)
  write_counts()
  for n = 1, QUEUES do settle(ARGV[4 + n], grew) end
end
