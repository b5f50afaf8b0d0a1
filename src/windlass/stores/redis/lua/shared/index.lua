-- What jobs are listed by besides their records, and the numbers that are given out.
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
    if number ~= 0 then
      local left = unspoilt(redis.pcall('HINCRBY', COUNTS, field, number))
      -- One that somebody else wrote over is no number: it begins anew, and `doctor` tells of it.
      if left == 0 or type(left) == 'table' then redis.call('HDEL', COUNTS, field) end
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

local function save(job)
  redis.call('HSET', JOBS, job.id, build(job))
end

-- A place at the end of the line, after all that were given out before.
local function next_place(number)
  number = number or 1
  return redis.call('HINCRBY', META, 'back', number) - number + 1
end

-- A fence that is greater than all before it, those included that this server has forgotten: writes that
-- a failover or a crash has lost, or that another shard knows of a former job of the same id. So it goes by
-- the clock, and by what the caller has seen. No server makes as many claims in a millisecond.
-- define: FENCES_A_MILLISECOND 1024
local function next_fence(beyond)
  local last = tonumber(redis.call('HGET', META, 'fence') or 0)
  local step = math.max(last, tonumber(beyond), NOW * FENCES_A_MILLISECOND) - last + 1
  return redis.call('HINCRBY', META, 'fence', string.format('%.0f', step))
end
