-- Where jobs of groups stand, by limits/fairness.py: in GROUPED are those that are pending or wait in
-- their lane, each twice: "g", queue and group (length H before each), place I8 (+ BIAS), id; and "q",
-- queue, place, id. The clock of each queue is in META.
local open_groups = WITH_TURNS and function()
-- define: BAND 1099511627776
-- define: STEP 16384
-- define: SLOT 1024
-- define: NEAR 16
  local groups = {}

  local function prefixes(job)
    local name = string.sub(traits_of(job)[GROUP], 5)
    return 'g' .. sized(job.queue) .. sized(name), 'q' .. sized(job.queue)
  end

  local function packed(place) return struct.pack('>I8', place + BIAS) end

  -- The last place that begins with this, below another and not below a third.
  local function last_place(prefix, below, from)
    local member =
      redis.call('ZREVRANGEBYLEX', GROUPED, '(' .. below, '[' .. from, 'LIMIT', 0, 1)[1]
    return member and struct.unpack('>I8', member, #prefix + 1) - BIAS
  end

  function groups.add(job)
    local own, all = prefixes(job)
    local place = packed(job.place) .. job.id
    redis.call('ZADD', GROUPED, 0, own .. place, 0, all .. place)
  end

  -- Places of which this call knows that none is free, by queue: from one to before another.
  local taken = {}

  function groups.remove(job, place)
    local own, all = prefixes(job)
    redis.call('ZREM', GROUPED, own .. packed(place) .. job.id, all .. packed(place) .. job.id)
    taken = {}
    -- Where none is left the next one begins anew, and nothing is kept of a queue that is empty.
    if not last_place(all, all .. '\255', all) then redis.call('HDEL', META, 'clock ' .. job.queue) end
  end

  local function all_taken(all, from, size)
    local low, high = '[' .. all .. packed(from), '(' .. all .. packed(from + size)
    return redis.call('ZLEXCOUNT', GROUPED, low, high) == size
  end

  -- Behind all the slots, from the beginning of one, in which no place is free.
  local function behind(all, from)
    local at, size = from, SLOT
    while all_taken(all, at, size) do at, size = at + size, size * 2 end
    while size > SLOT do
      size = size / 2
      if all_taken(all, at, size) then at = at + size end
    end
    if at > from then taken[all] = { from, at } end
    return at
  end

  -- The place that a job gets at the end of the line: one step behind the last of its group.
  function groups.place(job)
    local own, all = prefixes(job)
    local weight = math.max(1, (struct.unpack('>I4', traits_of(job)[GROUP])))
    local clock = tonumber(redis.call('HGET', META, 'clock ' .. job.queue) or 0)
    local greatest = last_place(own, own .. '\255', own) or 0
    local wanted = math.max(BAND, clock, greatest) + math.max(1, math.floor(STEP / weight))
    local known = taken[all]
    if known and wanted >= known[1] and wanted < known[2] then wanted = known[2] end
    while last_place(all, all .. packed(wanted + 1), all .. packed(wanted)) do
      local beyond = wanted - wanted % SLOT + SLOT
      if weight > 1 then
        local near = math.min(wanted + NEAR, beyond)
        local last = last_place(all, all .. packed(near), all .. packed(wanted))
        if last + 1 < near then return last + 1 end
      end
      local last = last_place(all, all .. packed(beyond), all .. packed(wanted))
      if last + 1 < beyond then return last + 1 end
      wanted = behind(all, beyond)
    end
    return wanted
  end

  -- A job was handed out: the clock of its queue goes up to its place.
  function groups.start(job)
    groups.remove(job, job.place)
    local _, all = prefixes(job)
    local field = 'clock ' .. job.queue
    if last_place(all, all .. '\255', all) and job.place > tonumber(redis.call('HGET', META, field) or 0) then
      redis.call('HSET', META, field, string.format('%.0f', job.place))
    end
  end

  return groups
end
