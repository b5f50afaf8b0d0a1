-- What the start of a job changes, of those few that have traits.
local owed = {}

local function give_up_at_start(job)
  local key = job.unique
  job.unique, job.traits[STARTS_FREE] = nil, nil
  save_traits(job)
  if key and has(job.more, REMOTE_KEY) > 0 then
    redis.call('HSET', OUTBOX, 'u' .. job.id, key)
    for _, word in ipairs({ 'u', job.id, key }) do owed[#owed + 1] = word end
  elseif key then
    local value = redis.call('HGET', UNIQUE, key)
    -- Its id, be it after the terms on which it is held or not (see unique).
    if value == job.id or (value and string.sub(value, 18) == job.id) then
      redis.call('HDEL', UNIQUE, key)
    end
  end
end

-- The record of a job that is started; the jobs of its lane that come along if it is the first, as
-- far as there is room; and the bytes that are left of that.
local function started(id, record, is_first, room)
  local job = parse(id, record)
  local along = {}
  if is_first then along, room = turns().start(job, room) end
  if traits_of(job)[STARTS_FREE] then
    give_up_at_start(job)
    record = build(job)
  end
  return record, along or {}, room or 0
end
