-- What a lane allows now: limits/rate.py and limits/admission.py in whole numbers, as they have it. In
-- one piece, for the few scripts that meet a lane (see turns).
local open_rate = WITH_TURNS and function()
-- define: PARTS 50
-- define: MOST_ADMITTED 100
  local rate = {}

  -- Microseconds between two tokens.
  local function interval(lane)
    return math.max(1, math.floor(lane.per * 1000 / lane.starts))
  end

  -- What has started within the window: pairs of the end of a part and how many.
  local function recent(lane)
    local found = {}
    for _, part in ipairs(lane.log) do
      if part[1] + lane.per > NOW then found[#found + 1] = part end
    end
    return found
  end

  local function tokens(lane)
    if lane.burst > 0 then
      local step = interval(lane)
      local used = math.max(0, lane.full_at - NOW * 1000)
      return math.max(0, math.floor((lane.burst * step - used) / step))
    end
    local left = lane.starts
    for _, part in ipairs(recent(lane)) do left = left - part[2] end
    return math.max(0, left)
  end

  local function opens_at(lane)
    if lane.burst > 0 then
      return math.ceil((lane.full_at - (lane.burst - 1) * interval(lane)) / 1000)
    end
    local first = recent(lane)[1]
    return first[1] + lane.per
  end

  -- After so many of its jobs were claimed.
  function rate.start(lane, number)
    if lane.starts == 0 then
      lane.first = 0
    elseif lane.burst > 0 then
      lane.full_at = math.max(lane.full_at, NOW * 1000) + number * interval(lane)
      lane.log = {}
    else
      local part = math.max(1, math.floor(lane.per / PARTS))
      local log, till = recent(lane), NOW - NOW % part + part
      local last = log[#log]
      if last and last[1] == till then
        last[2] = last[2] + number
      else
        log[#log + 1] = { till, number }
        table.sort(log, function(one, other) return one[1] < other[1] end)
      end
      lane.full_at, lane.log = 0, log
    end
  end

  -- From when on the state of a lane without jobs says nothing any more.
  function rate.idle_from(lane)
    local from = NOW
    if lane.starts == 0 then return from end
    if lane.burst > 0 then return math.max(from, math.ceil(lane.full_at / 1000)) end
    for _, part in ipairs(lane.log) do from = math.max(from, part[1] + lane.per) end
    return from
  end

  -- How many of those that wait get slots, or when one is to be looked at again.
  function rate.settle(lane, waiting)
    if waiting == 0 then return 0 end
    if lane.size > 0 then
      if lane.pending > 0 then return 0 end
      local ripe_at = math.min(lane.first + lane.longest, lane.last + lane.grace)
      if waiting >= lane.size or ripe_at <= NOW then return 1 end
      return 0, ripe_at
    end
    local free = lane.slots > 0 and lane.slots - lane.holders or MOST_ADMITTED
    local number = math.min(free, waiting, MOST_ADMITTED)
    if lane.starts > 0 then
      number = math.min(number, tokens(lane) - lane.pending)
      if number <= 0 and lane.pending == 0 and free > 0 then return 0, opens_at(lane) end
    end
    return math.max(0, number)
  end

  return rate
end
