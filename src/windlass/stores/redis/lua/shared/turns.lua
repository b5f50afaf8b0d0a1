-- How jobs of lanes wait for their turn, and those of groups get their place. All of it is made when
-- the first job comes that has traits: no script pays for it otherwise.
-- define: MOST_ALONG 500
local opened
local open_turns = WITH_TURNS and function()
  local turns, lanes, groups, rate = {}, open_lanes(), open_groups(), open_rate()
  local touched, order = {}, {} -- whether a job has entered each lane that was changed

  local function touch(lane, entered)
    if touched[lane] == nil then order[#order + 1] = lane end
    touched[lane] = touched[lane] or entered
  end

  local function has_slot(job) return traits_of(job)[TURN] == '' end
  local function is_waiting(job) return (traits_of(job)[TURN] or '') ~= '' end

  -- A job that is in the line or in its lane, before its state is changed.
  local function was_in_line(job)
    return job.was == PENDING or (job.was and is_waiting(job))
  end

  local function stop_waiting(job, lane)
    if not is_waiting(job) then return end
    redis.call('ZREM', ENTERED, lanes.member(lane, job.traits[TURN], job.stood, job.id))
    job.traits[TURN] = nil
    if lane.ticket == job.id then lane.ticket = '' end
    touch(lane, false)
  end

  local function give_up(job, lane)
    if not has_slot(job) then return end
    job.traits[TURN] = nil
    lanes.let_go(lane, job.id)
    touch(lane, false)
  end

  -- The limits that come with a new job hold from now on.
  function turns.set_limits(job)
    local lane, own = lanes.of(job)
    if not lane then return end
    lanes.set_limits(lane, own)
    touch(lane, false)
  end

  -- A job that leaves, or is to be another one.
  function turns.leave(job)
    if traits_of(job)[GROUP] and was_in_line(job) then groups.remove(job, job.stood) end
    local lane = lanes.of(job)
    if lane then
      stop_waiting(job, lane)
      give_up(job, lane)
    end
    job.was = nil
  end

  -- One that is put off by hand does not wait for a slot any more.
  function turns.put_off(job)
    local lane = lanes.of(job)
    if not lane or not is_waiting(job) then return end
    if job.traits[GROUP] then groups.remove(job, job.stood) end
    stop_waiting(job, lane)
  end

  -- Whether a job that is to be pending goes to the line; if not, it waits in its lane.
  local function passes(job, lane, own)
    local is_strict = string.byte(own, 5) > 0
    local keeps = is_strict and not FINISHED[job.state] and job.state ~= IS_BLOCKED
    stop_waiting(job, lane)
    if not keeps then give_up(job, lane) end
    return job.state ~= PENDING or has_slot(job)
  end

  -- Where a job goes that is about to be written in its new state; it may be blocked by it.
  function turns.place(job)
    local lane, own = lanes.of(job)
    local was_lined = was_in_line(job)
    if lane and job.state == PENDING and is_waiting(job) and lane.ticket == job.id then
      -- Its moment has come. It waits on where it stands, and is the first to be looked at.
      job.state, job.place = IS_BLOCKED, job.stood
      touch(lane, false)
      return
    end
    local in_line = not lane or passes(job, lane, own)
    if traits_of(job)[GROUP] then
      if was_lined then groups.remove(job, job.stood) end
      if job.state == PENDING then
        if job.at_end then job.place = groups.place(job) end
        groups.add(job)
      end
    end
    if not in_line then
      job.traits[TURN] = lanes.turn(lane, job)
      redis.call('ZADD', ENTERED, 0, lanes.member(lane, job.traits[TURN], job.place, job.id))
      job.state = IS_BLOCKED
      touch(lane, true)
    elseif lane and has_slot(job) then
      lanes.hold(lane, job.id, job.state == PENDING)
    end
    save_traits(job)
  end

  -- Takes a job of a lane out of where it waits, and puts it where it is to be.
  local function move(job, state)
    count(job.queue, job.state, -1)
    if job.state == SCHEDULED then
      unspoilt(redis.pcall('ZREM', LATER[job.queue], later_member(job)))
    else
      redis.call('ZREM', BLOCKED, readable(job.id))
    end
    job.state = state
    count(job.queue, state, 1)
    if state == PENDING then
      unspoilt(redis.pcall('ZADD', LINE[job.queue], score(job), job.id))
    elseif state == SCHEDULED then
      unspoilt(redis.pcall('ZADD', LATER[job.queue], 0, later_member(job)))
    elseif state == IS_BLOCKED then
      redis.call('ZADD', BLOCKED, 0, readable(job.id))
    end
  end

  -- Gives a slot to one that waits; the job, and its record as it would be in the line.
  local function job_in(lane, member)
    local id = lanes.id_in(lane, member)
    local record = redis.call('HGET', JOBS, id)
    redis.call('ZREM', ENTERED, member)
    if not is_whole(record, IS_BLOCKED) and not is_whole(record, SCHEDULED) then
      -- Damaged: it has no slot, for nobody would know to give that up.
      record = whole(record, IS_BLOCKED, lane.queue)
      redis.call('HDEL', TRAITS, id)
      return parse(id, record), string.sub(record, 1, 16) .. string.char(PENDING) .. string.sub(record, 18)
    end
    local job = parse(id, record)
    if lane.ticket == id then lane.ticket = '' end
    traits_of(job)[TURN] = ''
    lanes.hold(lane, id, false)
    save_traits(job)
    return job, string.sub(record, 1, 16) .. string.char(PENDING) .. string.sub(record, 18)
  end

  local function admit(lane, number)
    while number > 0 do
      local found = lanes.first(lane, number)
      if #found == 0 then return end
      for _, member in ipairs(found) do
        local job = job_in(lane, member)
        move(job, PENDING)
        save(job)
        if has_slot(job) then
          lanes.hold(lane, job.id, true)
          number = number - 1
        end
      end
    end
  end

  -- One of those that wait is scheduled for the moment at which the lane lets someone in.
  local function set_ticket(lane, moment_of_it)
    local id = lane.ticket
    if id == '' and moment_of_it then id = lanes.id_in(lane, lanes.first(lane, 1)[1]) end
    local record = id ~= '' and redis.call('HGET', JOBS, id)
    lane.ticket = moment_of_it and id or ''
    if not is_whole(record, IS_BLOCKED) and not is_whole(record, SCHEDULED) then
      lane.ticket = ''
      return
    end
    local job = parse(id, record)
    if not moment_of_it then
      if job.state ~= IS_BLOCKED then
        move(job, IS_BLOCKED)
        save(job)
      end
    elseif job.state ~= SCHEDULED or job.due ~= moment_of_it then
      if job.state == SCHEDULED then move(job, IS_BLOCKED) end
      job.due = moment_of_it
      move(job, SCHEDULED)
      save(job)
    end
  end

  local function settle_lane(lane, entered)
    local waiting = lanes.waiting(lane)
    if waiting == 0 then
      lane.first = 0
    elseif lane.first == 0 then
      lane.first = NOW
    end
    if entered then lane.last = NOW end
    lane.holders, lane.pending = lanes.holders(lane)
    local admitted, ticket_at = rate.settle(lane, waiting)
    if admitted > 0 then admit(lane, admitted) end
    if ticket_at or lane.ticket ~= '' then set_ticket(lane, ticket_at) end
    if lane.holders == 0 and waiting == 0 then
      redis.call('ZADD', IDLE, rate.idle_from(lane), lane.field)
    end
  end

  -- The end of every step: gives out the slots that are free.
  function turns.settle()
    for _, lane in ipairs(order) do
      settle_lane(lane, touched[lane])
      lanes.save(lane)
    end
    touched, order = {}, {}
  end

  -- A job was claimed; those that come along with it, as they were.
  function turns.start(job, room)
    local along, lane = {}, lanes.of(job)
    job.stood = job.place
    if job.traits[GROUP] then groups.start(job) end
    if not lane then return along, room end
    if has_slot(job) then lanes.hold(lane, job.id, false) end
    local most = math.min(lane.size, MOST_ALONG) - 1
    for _, member in ipairs(most > 0 and lanes.first(lane, most) or {}) do
      room = room - redis.call('HSTRLEN', LARGE, lanes.id_in(lane, member))
      if room < 0 then break end
      local other, record = job_in(lane, member)
      room = room - #record
      along[#along + 1] = { other.id, record }
      if traits_of(other)[GROUP] then groups.start(other) end
      move(other, ACTIVE)
    end
    if lane.starts > 0 or lane.size > 0 then
      rate.start(lane, 1 + #along)
      touch(lane, false)
    end
    return along, room
  end

  -- Lanes that nobody is in are forgotten, so many at most.
  function turns.prune(most)
    for _, field in ipairs(redis.call('ZRANGEBYSCORE', IDLE, '-inf', NOW, 'LIMIT', 0, most)) do
      local lane = lanes.get(field)
      local empty = lane and lanes.holders(lane) == 0 and lanes.waiting(lane) == 0
      local from = empty and rate.idle_from(lane)
      if empty and from > NOW then
        redis.call('ZADD', IDLE, from, field)
      else
        if empty then lanes.drop(field) end
        redis.call('ZREM', IDLE, field)
      end
    end
  end

  return turns
end

-- A flag without traits, if someone has dropped them: then there is nothing to it.
local function nothing() return {} end

local function turns()
  if not opened then
    opened = WITH_TURNS and open_turns() or setmetatable({}, { __index = function() return nothing end })
  end
  return opened
end
