-- A job that holds a unique key and is to do what another one was to do.

-- The key that a job asks for or holds, and for how long if it is for a time.
local function key_of(job)
  if job.unique then return job.unique end
  if job.more < HAS_TRAITS then return nil end
  local window = traits_of(job)[WINDOW]
  if window then return string.sub(window, 9), struct.unpack('>I8', window) end
end

-- The job of this id, if it is live and holds this key.
local function live_holder(id, key)
  local record = redis.call('HGET', JOBS, id)
  local job = is_live(record) and sound(id, record)
  return job and key_of(job) == key and job or nil
end

-- When a new job is to run: below zero its time is a delay.
local function set_time(job)
  if job.due < 0 then job.due = NOW - job.due end
  if job.due > NOW then job.state = SCHEDULED end
end

-- Puts a new job, whose place is given, into the place of one that waits. That stays the job it is to
-- all who know it, and blocked if it was; what it held and had is gone.
local function replace(old, new, spec)
  local by = new.id
  -- In its lane it waits for no other job.
  local is_blocked = old.state == IS_BLOCKED and (traits_of(old)[TURN] or '') == ''
  if not is_blocked then unindex(old) end
  if has(old.more, HAS_TRAITS) > 0 then turns().leave(old) end
  drop_sides(old)
  traits_of(new)[REPLACED_BY] = by
  new.id, new.queue, new.at_end = old.id, old.queue, true
  new.more = has(old.more, REMOTE_ID + REMOTE_KEY + HAS_DEPENDENTS) + HAS_TRAITS
  turns().set_limits(new)
  set_time(new)
  if is_blocked then new.state, new.place = IS_BLOCKED, old.place end
  if spec then redis.call('HSET', LARGE, new.id, spec) end
  save_traits(new)
  if not is_blocked then index(new) end
  save(new)
end

-- A job that another follows holds its key no longer.
local function yield_key(job)
  job.unique = nil
  traits_of(job)[WINDOW] = nil
  job.traits[STARTS_FREE] = nil
  save_traits(job)
  save(job)
end
