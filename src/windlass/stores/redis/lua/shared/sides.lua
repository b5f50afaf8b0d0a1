-- What a job keeps outside of its record, only if it has it; and how it leaves. Scripts include
-- `traits` and `unique` before it.
local SIDES = {
  { 'flags', HAS_LARGE, LARGE },
  { 'flags', HAS_RESULT, RESULTS },
  { 'flags', HAS_ERROR, ERRORS },
  { 'more', HAS_PROGRESS, PROGRESS },
  { 'more', HAS_CHECKPOINT, CHECKPOINTS },
  { 'more', HAS_MAIL, MAIL },
  { 'more', HAS_TRAITS, TRAITS },
}

local function drop_sides(job)
  for _, side in ipairs(SIDES) do
    if has(job[side[1]], side[2]) > 0 then redis.call('HDEL', side[3], job.id) end
  end
end

-- Names that other shards keep for this job are given up there by a second step; until it is
-- done, OUTBOX remembers it. Returned to the caller, who is to take that step at once.
local owed = {}
local function owe(id, what, name)
  redis.call('HSET', OUTBOX, what .. id, name)
  owed[#owed + 1] = what
  owed[#owed + 1] = id
  owed[#owed + 1] = name
end

local function free(job, key)
  if has(job.more, REMOTE_KEY) > 0 then
    owe(job.id, 'u', key)
  else
    give_up_key(key, job.id)
  end
end

-- A job that is no longer live gives up its unique key.
local function free_key(job)
  if job.unique then free(job, job.unique) end
end

-- One that is called off gives it up also if it was to hold it for a time.
local function free_window(job)
  if has(job.more, HAS_TRAITS) == 0 then return end
  local window = traits_of(job)[WINDOW]
  if not window then return end
  free(job, string.sub(window, 9))
  job.traits[WINDOW] = nil
  save_traits(job)
end

-- Removes a job that stands in no index any more.
local function remove(job)
  redis.call('HDEL', JOBS, job.id)
  drop_sides(job)
  if has(job.more, REMOTE_ID) > 0 then owe(job.id, 'i', job.id) end
end

-- Puts a job into a finished state, or removes it if it is not to be kept.
local function settle_finished(job)
  if has(job.more, HAS_TRAITS) > 0 then turns().leave(job) end
  free_key(job)
  if job.state == DONE_CANCELLED then free_window(job) end
  if job.keep == 0 and job.state ~= DONE_DEAD then
    remove(job)
  else
    index(job)
    save(job)
  end
end
