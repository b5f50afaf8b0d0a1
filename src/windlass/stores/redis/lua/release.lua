-- Sees to dependents of jobs that have ended: those with nothing left to wait for become pending, or
-- scheduled if their time is to come; those that were orphaned are cancelled.
--
-- KEYS  those of the shard of the dependents, then line and later set of each queue
-- ARGV  call, queues, then "1" if the parents are in this shard as well, so that their edges go in
--       the same step; and for each ending: the ending, "1" if the parent was completed, "1" if these
--       are the last of its edges, why a dependent is cancelled, where the edges are (1 byte, see
--       waits), how many edges, these
-- Returns positions (from 0, over all edges) of dependents that have yet to come in, and must be
-- asked for again; what is owed to other shards (see finish); position and ending of each job that
-- was cancelled and has dependents itself.
-- include: keys call queues variadic codes record ids waits index traits rate lanes groups turns standing unique sides note endings

local own = ARGV[FIRST] == '1'
local edges, settled = {}, {} -- of the parents, if they are here
local early, followed = {}, {}

-- All edges of the call: dependent, how it waits, and its wait.
local sub, unpack_from = string.sub, struct.unpack
local ids, ways, awaited, numbers = {}, {}, {}, {}
local at = FIRST + 1
while at <= #ARGV do
  local where, number = ARGV[at + 4], tonumber(ARGV[at + 5])
  numbers[#numbers + 1] = number
  -- All edges of an ending begin with the same parent.
  local length = number > 0 and unpack_from('>H', ARGV[at + 6])
  local tail = number > 0 and where .. sub(ARGV[at + 6], 3, length + 2)
  for n = 1, number do
    local edge = ARGV[at + 5 + n]
    local _, how, size = unpack_from('>BBH', edge, length + 11)
    local own_id = sub(edge, length + 13, length + 14 + size) -- with its length before it
    local m = #ids + 1
    ids[m], ways[m] = sub(own_id, 3), how
    awaited[m] = own_id .. sub(edge, length + 3, length + 10) .. tail
  end
  at = at + 6 + number
end

-- Edges of one parent stand together: as a range they go more quickly.
local function drop_edges()
  if #edges == 0 then return end
  local low, high = '[' .. edges[1], '[' .. edges[#edges]
  if #numbers == 1 and redis.call('ZLEXCOUNT', DEPENDENTS, low, high) == #edges then
    redis.call('ZREMRANGEBYLEX', DEPENDENTS, low, high)
  else
    variadic('ZREM', DEPENDENTS, edges)
  end
end

-- Whether the waits are there still.
local function are_there()
  local found = {}
  for first = 1, #awaited, MOST do
    local last = math.min(first + MOST - 1, #awaited)
    for n, score in ipairs(redis.call('ZMSCORE', WAITS, unpack(awaited, first, last))) do
      found[first + n - 1] = score
    end
  end
  return found
end

local function is_coming(id)
  for _, kind in ipairs({ 'a', 'b', 'p' }) do
    if redis.call('HEXISTS', OUTBOX, kind .. id) == 1 then return true end
  end
  return false
end

local function cancel(job, why, position)
  unindex(job)
  redis.call('HSET', ERRORS, job.id, why)
  job.flags = with(job.flags, HAS_ERROR)
  job.state, job.finished = DONE_CANCELLED, NOW
  local before = #endings
  end_for_dependents(job, DONE_CANCELLED, why)
  if #endings > before then
    followed[#followed + 1] = position
    followed[#followed + 1] = endings[#endings]
  end
  note(job.id, build(job), false)
  settle_finished(job)
end

-- Each dependent once, with the ending that took the last of its waits, so far.
local touched, order, gone, waited_for_one = {}, {}, {}, {}
local there, closed, position = are_there(), {}, 0
at = FIRST + 1
for ending, number in ipairs(numbers) do
  local completed, last, why = ARGV[at + 1] == '1', ARGV[at + 2] == '1', ARGV[at + 3]
  for n = 1, number do
    position = position + 1
    local id, is_early = ids[position], false
    if there[position] and not gone[id] then
      closed[#closed + 1] = awaited[position]
      if completed or has(ways[position], RUNS_ANYWAY) > 0 then
        if has(ways[position], WAITS_FOR_ONE) > 0 then waited_for_one[id] = true end
        if not touched[id] then order[#order + 1] = id end
        touched[id] = ending
      else
        local record = redis.call('HGET', JOBS, id)
        if is_whole(record, IS_BLOCKED) then cancel(parse(id, record), why, position - 1) end
        gone[id] = true
      end
    elseif not there[position] and is_coming(id) then
      early[#early + 1] = position - 1
      is_early, last = true, false
    end
    if own and not is_early then edges[#edges + 1] = ARGV[at + 5 + n] end
  end
  if own and last then settled[#settled + 1] = ARGV[at] end
  at = at + 6 + number
end
variadic('ZREM', WAITS, closed)

-- Those that are free now: id, record and place of each, in the order in which they go to the line.
local ready, some = {}, {}
for _, id in ipairs(order) do
  if not gone[id] and (waited_for_one[id] or #members(WAITS, sized(id), 1) == 0) then
    some[#some + 1] = id
  end
end
for n, record in ipairs(many(JOBS, some)) do
  if is_whole(record, IS_BLOCKED) then
    local place = struct.unpack('>I8', record, 9)
    ready[#ready + 1] = { some[n], record, place, touched[some[n]] }
  end
end
local function comes_before(one, other)
  if one[4] ~= other[4] then return one[4] < other[4] end
  return one[3] < other[3]
end
-- As a rule they are in order: edges are in that of their coming.
for n = 2, #ready do
  if comes_before(ready[n], ready[n - 1]) then
    table.sort(ready, comes_before)
    break
  end
end

local records, lines, laters, listed, counted = {}, {}, {}, {}, {}
local place = #ready > 0 and next_place(#ready)
for n, each in ipairs(ready) do
  local id, record = each[1], each[2]
  local flags, priority, more = string.byte(record, 18, 20)
  local length = unpack_from('>H', record, 25)
  local queue = sub(record, 27, 26 + length)
  local numbered = counted[queue]
  if not numbered then
    numbered = { [PENDING] = 0, [SCHEDULED] = 0 }
    counted[queue], lines[queue], laters[queue] = numbered, {}, {}
  end
  local due = has(flags, HAS_DUE) > 0 and unpack_from('>i8', record, 27 + length) or 0
  local state, stands = PENDING, place + n - 1 + BIAS
  if more >= HAS_TRAITS then
    local job = parse(id, record)
    count(queue, IS_BLOCKED, -1)
    redis.call('ZREM', BLOCKED, readable(id))
    if due > NOW then
      job.state = SCHEDULED
    else
      job.state, job.place, job.at_end = PENDING, place + n - 1, true
    end
    index(job)
    save(job)
    state = nil
  elseif due > NOW then
    state, stands = SCHEDULED, each[3]
    local later = laters[queue]
    later[#later + 1] = 0
    later[#later + 1] = moment(SCHEDULED, due, stands - BIAS) .. id
  else
    local line = lines[queue]
    line[#line + 1] = stands - BIAS - (priority - DEFAULT_PRIORITY) * PRIORITY_STEP
    line[#line + 1] = id
  end
  if state then
    numbered[state] = numbered[state] + 1
    records[#records + 1] = id
    records[#records + 1] = sub(record, 1, 8) .. struct.pack('>I8B', stands, state) .. sub(record, 18)
    listed[#listed + 1] = readable(id)
  end
end
for queue, numbered in pairs(counted) do
  count(queue, IS_BLOCKED, -(numbered[PENDING] + numbered[SCHEDULED]))
  count(queue, PENDING, numbered[PENDING])
  count(queue, SCHEDULED, numbered[SCHEDULED])
end
variadic('HSET', JOBS, records)
variadic('ZREM', BLOCKED, listed)
for queue in pairs(counted) do
  if is_usable(queue) then
    variadic('ZADD', LINE[queue], lines[queue])
    variadic('ZADD', LATER[queue], laters[queue])
  end
end

drop_edges()
variadic('ZREM', ENDINGS, settled)
write_endings()
write_index()
return { early, owed, followed }
