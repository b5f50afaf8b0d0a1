-- The due jobs of one queue, at most so many: time, place, id, member and queue of each.
local function due_in(queue, most)
  local due = {}
  for _, state in ipairs({ SCHEDULED, RETRY }) do
    local low, high = '[' .. string.char(state), '(' .. moment(state, NOW + 1, -BIAS)
    local found = unspoilt(redis.pcall('ZRANGEBYLEX', LATER[queue], low, high, 'LIMIT', 0, most))
    for _, member in ipairs(found) do
      local time, place = struct.unpack('>I8I8', member, 2)
      due[#due + 1] = { time, place, string.sub(member, 18), member, queue }
    end
  end
  return (#due == 0 or is_usable(queue)) and due or {}
end

local function is_earlier(one, other)
  if one[1] ~= other[1] then return one[1] < other[1] end
  return one[2] < other[2]
end

-- Due jobs go to the end of the line in the order of their time, then of their place.
local function promote(most)
  local due = {}
  for n = 1, QUEUES do
    local found = due_in(ARGV[4 + n], most - #due)
    table.sort(found, is_earlier)
    for m = 1, math.min(#found, most - #due) do due[#due + 1] = found[m] end
    if #due == most then break end
  end
  if #due == 0 then return end
  table.sort(due, is_earlier)
  local ids, gone, lines, records = {}, {}, {}, {}
  for n, entry in ipairs(due) do
    ids[n] = entry[3]
    local queue = entry[5]
    gone[queue], lines[queue] = gone[queue] or {}, lines[queue] or {}
    table.insert(gone[queue], entry[4])
  end
  for queue, members in pairs(gone) do variadic('ZREM', LATER[queue], members) end
  local place = next_place(#due)
  for n, record in ipairs(many(JOBS, ids)) do
    local id, queue, line = ids[n], due[n][5], lines[due[n][5]]
    local state = string.byte(due[n][4])
    record = whole(record, state, queue)
    local priority, more = string.byte(record, 19, 20)
    count(queue, state, -1)
    if more >= HAS_TRAITS then
      local job = parse(id, record)
      job.was, job.stood = state, job.place
      job.state, job.place, job.at_end = PENDING, place + n - 1, true
      index(job)
      save(job)
    else
      records[#records + 1] = id
      records[#records + 1] = string.sub(record, 1, 8)
        .. struct.pack('>I8B', place + n - 1 + BIAS, PENDING) .. string.sub(record, 18)
      line[#line + 1] = place + n - 1 - (priority - DEFAULT_PRIORITY) * PRIORITY_STEP
      line[#line + 1] = id
      count(queue, PENDING, 1)
    end
  end
  variadic('HSET', JOBS, records)
  for queue, line in pairs(lines) do variadic('ZADD', LINE[queue], line) end
end
