-- What a job keeps outside of its record, only if it has it; and how it leaves.
local SIDES = {
  { 'flags', HAS_LARGE, LARGE },
  { 'flags', HAS_RESULT, RESULTS },
  { 'flags', HAS_ERROR, ERRORS },
  { 'more', HAS_PROGRESS, PROGRESS },
  { 'more', HAS_CHECKPOINT, CHECKPOINTS },
}

local function drop_sides(job)
  for _, side in ipairs(SIDES) do
    if has(job[side[1]], side[2]) > 0 then redis.call('HDEL', side[3], job.id) end
  end
end

-- Names that other shards keep for this job are given up there by a second step; until it is
-- done, OUTBOX remembers it. Returned to the caller, who is to take that step at once.
local owed = {}
local function owe(job, what)
  redis.call('HSET', OUTBOX, what .. job.id, what == 'u' and job.unique or job.id)
  owed[#owed + 1] = what
  owed[#owed + 1] = job.id
  owed[#owed + 1] = what == 'u' and job.unique or job.id
end

-- A job that is no longer live gives up its unique key.
local function free_key(job)
  if not job.unique then return end
  if has(job.more, REMOTE_KEY) > 0 then
    owe(job, 'u')
  elseif redis.call('HGET', UNIQUE, job.unique) == job.id then
    redis.call('HDEL', UNIQUE, job.unique)
  end
end

-- Removes a job that stands in no index any more.
local function remove(job)
  redis.call('HDEL', JOBS, job.id)
  drop_sides(job)
  if has(job.more, REMOTE_ID) > 0 then owe(job, 'i') end
end

-- Puts a job into a finished state, or removes it if it is not to be kept.
local function settle_finished(job)
  free_key(job)
  if job.keep == 0 and job.state ~= DONE_DEAD then
    remove(job)
  else
    index(job)
    save(job)
  end
end
