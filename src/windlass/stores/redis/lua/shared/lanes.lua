-- Lanes as they are kept: in LANES, by queue (length H before it) and name, the limits as they come
-- with a job, then
--   full_at I8, first I8, last I8, ticket (length H before it), and of each part of the log its end
--   I8 and a number I4 (see limits/admission.py)
-- Its jobs are in ENTERED, each with the lane (length H before it) in front: those that have a slot
-- with a turn B and the id, so that slots are counted by who has them; those that wait for one with
-- their turn B, place I8 (+ BIAS) and id. That turn is by priority; where that does not count it is
-- that of the usual one, so that those who came before stay in order if the limits come to be others.
-- Behind them all is LISTED, the queue as people know it, a zero byte and the name of each lane: so they
-- can be listed in order.
-- define: LISTED '\255\255'
-- define: IS_PENDING '\1'
-- define: IS_NOT_PENDING '\2'
-- define: FIRST_TURN '\3'
-- define: LIMITS '>I4BI4I8I4I4I8I8'
-- define: LIMITS_SIZE 41
-- define: LAST_TURN 200
local open_lanes = WITH_TURNS and function()
  local lanes, loaded = {}, {}

  local function set_limits(lane, raw)
    lane.limits = string.sub(raw, 1, LIMITS_SIZE)
    lane.slots, lane.strict, lane.starts, lane.per, lane.burst, lane.size, lane.grace, lane.longest =
      struct.unpack(LIMITS, raw)
  end
  lanes.set_limits = set_limits

  local function read(raw)
    local lane = { raw = raw, log = {} }
    set_limits(lane, raw)
    local length, at
    lane.full_at, lane.first, lane.last, length, at =
      struct.unpack('>I8I8I8H', raw, LIMITS_SIZE + 1)
    lane.ticket = string.sub(raw, at, at + length - 1)
    for from = at + length, #raw - 11, 12 do
      lane.log[#lane.log + 1] = { struct.unpack('>I8I4', raw, from) }
    end
    return lane
  end

  local function fresh(limits)
    local lane = { full_at = 0, first = 0, last = 0, ticket = '', log = {} }
    set_limits(lane, limits)
    return lane
  end

  local function written(lane)
    local times = struct.pack('>I8I8I8', lane.full_at, lane.first, lane.last)
    local parts = { lane.limits, times, sized(lane.ticket) }
    for _, part in ipairs(lane.log) do
      parts[#parts + 1] = struct.pack('>I8I4', part[1], part[2])
    end
    return table.concat(parts)
  end

  -- A lane by its field; if it is not there, one with these limits.
  function lanes.get(field, limits)
    if not loaded[field] then
      local raw = redis.call('HGET', LANES, field)
      -- Damaged: as if it were new.
      if raw and #raw < LIMITS_SIZE + 26 then raw = nil end
      if not raw and not limits then return nil end
      loaded[field] = raw and read(raw) or fresh(limits)
      loaded[field].field = field
      loaded[field].prefix = sized(field)
    end
    return loaded[field]
  end

  -- The lane of a job, and the limits that came with it; nil if it has none.
  function lanes.of(job)
    local own = traits_of(job)[LANE]
    if not own then return nil end
    local lane = lanes.get(sized(job.queue) .. string.sub(own, LIMITS_SIZE + 1), own)
    lane.queue = job.queue
    return lane, own
  end

  local function between(lane, first, after)
    return '[' .. lane.prefix .. first, '(' .. lane.prefix .. after
  end

  function lanes.waiting(lane)
    return redis.call('ZLEXCOUNT', ENTERED, between(lane, FIRST_TURN, '\255'))
  end

  -- How many have a slot, and how many of these are pending.
  function lanes.holders(lane)
    return redis.call('ZLEXCOUNT', ENTERED, between(lane, IS_PENDING, FIRST_TURN)),
      redis.call('ZLEXCOUNT', ENTERED, between(lane, IS_PENDING, IS_NOT_PENDING))
  end

  function lanes.let_go(lane, id)
    redis.call('ZREM', ENTERED, lane.prefix .. IS_PENDING .. id, lane.prefix .. IS_NOT_PENDING .. id)
  end

  function lanes.hold(lane, id, pending)
    lanes.let_go(lane, id)
    redis.call('ZADD', ENTERED, 0, lane.prefix .. (pending and IS_PENDING or IS_NOT_PENDING) .. id)
  end

  function lanes.first(lane, most)
    local low, high = between(lane, FIRST_TURN, '\255')
    return redis.call('ZRANGEBYLEX', ENTERED, low, high, 'LIMIT', 0, most)
  end

  function lanes.id_in(lane, member) return string.sub(member, #lane.prefix + 10) end

  function lanes.turn(lane, job)
    local in_order = lane.strict > 0 or lane.size > 0
    return string.char(LAST_TURN - (in_order and DEFAULT_PRIORITY or job.priority))
  end

  function lanes.member(lane, turn, place, id)
    return lane.prefix .. turn .. struct.pack('>I8', place + BIAS) .. id
  end

  local function listed(field)
    local length, at = struct.unpack('>H', field)
    local queue = length == 0 and DEFAULT_QUEUE or string.sub(field, at, at + length - 1)
    return LISTED .. queue .. '\0' .. string.sub(field, at + length)
  end

  function lanes.save(lane)
    local now = written(lane)
    if now == lane.raw then return end
    if redis.call('HSET', LANES, lane.field, now) == 1 then
      redis.call('ZADD', ENTERED, 0, listed(lane.field))
    end
    lane.raw = now
  end

  function lanes.drop(field)
    redis.call('HDEL', LANES, field)
    redis.call('ZREM', ENTERED, listed(field))
  end

  return lanes
end
