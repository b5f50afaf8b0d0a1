-- Where a job stands besides its record, by its state; and what is told to those who wait.
-- Scripts that may meet a job that waits for others include `waits` before it.
local dropped = {}
local function unindex(job)
  if job.more >= HAS_TRAITS then job.was, job.stood = job.state, job.place end
  count(job.queue, job.state, -1)
  if job.state == PENDING then
    unspoilt(redis.pcall('ZREM', LINE[job.queue], job.id))
  elseif job.state == SCHEDULED or job.state == RETRY then
    unspoilt(redis.pcall('ZREM', LATER[job.queue], later_member(job)))
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
  if job.more >= HAS_TRAITS then turns().place(job) end
  count(job.queue, job.state, 1)
  if job.state == PENDING then
    unspoilt(redis.pcall('ZADD', LINE[job.queue], score(job), job.id))
  elseif job.state == SCHEDULED or job.state == RETRY then
    unspoilt(redis.pcall('ZADD', LATER[job.queue], 0, later_member(job)))
  elseif job.state == IS_BLOCKED then
    redis.call('ZADD', BLOCKED, 0, readable(job.id))
  elseif FINISHED[job.state] then
    redis.call('ZADD', FINISHED[job.state], 0, finished_member(job))
    if job.state ~= DONE_DEAD and term(job) == OTHER then
      redis.call('ZADD', EXPIRY, job.finished + job.keep, job.id)
    end
  end
end

-- The score of a queue in WORK: 0 while it has pending jobs, else the time of its next one.
local function next_work(queue)
  if redis.call('HEXISTS', COUNTS, 'P' .. queue) == 1 then return nil end
  local size = unspoilt(redis.pcall('ZCARD', LINE[queue]))
  if size ~= 0 then return type(size) == 'number' and 0 or nil end
  local soonest
  for _, state in ipairs({ SCHEDULED, RETRY }) do
    local low, high = '[' .. string.char(state), '(' .. string.char(state + 1)
    local first = unspoilt(redis.pcall('ZRANGEBYLEX', LATER[queue], low, high, 'LIMIT', 0, 1))[1]
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
  if not before or after < before then redis.pcall('PUBLISH', CHANNEL, queue) end
end

-- The end of every script that changed something.
local function write_index(grew)
  if opened then opened.settle() end
  drop_claims(dropped)
  write_counts()
  for n = 1, QUEUES do settle(ARGV[4 + n], grew) end
end
