-- Who holds a unique key, in UNIQUE of the shard that is its home: the id of a live job. If it is
-- held for a time, or by other terms than it was taken on, there is before the id: LENT B, until
-- when I8 (0 if as long as the job is live), a number I8 that grows when the terms change.
-- No id begins with this byte.
-- define: LENT 255
-- define: LENT_HEAD 17
-- The tag of a shard that has no others beside it (see keys.py): whoever has a key is here.
-- define: IS_ALONE (string.find(JOBS, '{0}:jobs', 1, true) ~= nil)
local function lent(till, number, id)
  return struct.pack('>BI8I8', LENT, till, number) .. id
end

local function whose(value)
  if value and string.byte(value) == LENT then return string.sub(value, LENT_HEAD + 1) end
  return value
end

-- The job that holds a key now.
local function holder_of(key)
  local value = redis.call('HGET', UNIQUE, key)
  if not value then return nil end
  if string.byte(value) == LENT then
    local till = #value > LENT_HEAD and struct.unpack('>I8', value, 2) or NOW
    if till > 0 and till <= NOW then return nil end
    return whose(value)
  end
  -- One that was damaged and died did not know of its key any more, so that it kept it.
  local record = redis.call('HGET', JOBS, value)
  if not record then return not IS_ALONE and value or nil end
  local state = string.byte(record, 17)
  if state and state >= DONE_COMPLETED and state <= DONE_CANCELLED then return nil end
  return value
end

-- Lets a job hold a key: for so many milliseconds, if that is given. What is in WINDOWS of a key
-- that is held by other terms by now does nothing, and goes in its time.
local function hold_key(key, id, window)
  if window then
    redis.call('HSET', UNIQUE, key, lent(NOW + window, 0, id))
    redis.call('ZADD', WINDOWS, NOW + window, key)
  else
    redis.call('HSET', UNIQUE, key, id)
  end
end

local function give_up_key(key, id)
  if whose(redis.call('HGET', UNIQUE, key)) ~= id then return end
  redis.call('HDEL', UNIQUE, key)
  redis.call('ZREM', WINDOWS, key)
end
