-- Lets a job wait for others of the same shard, or of any. What is to be written is kept until the
-- end of the script (see write_edges).
local flagged, edges, waits = {}, {}, {}
local first_edge

-- One more edge from a parent, whose record is `record`; its number.
local function add_edge(parent, record, shard, how, id, queue)
  first_edge = first_edge or tonumber(redis.call('HGET', META, 'edges') or 0)
  local number = first_edge + #edges / 2 + 1
  edges[#edges + 1] = 0
  edges[#edges + 1] =
    sized(parent) .. struct.pack('>I8BB', number, shard, how) .. sized(id) .. queue
  if not flagged[parent] then
    flagged[parent] = true
    local more = string.byte(record, 20)
    if has(more, HAS_DEPENDENTS) == 0 then
      local flag = string.char(more + HAS_DEPENDENTS)
      redis.call('HSET', JOBS, parent, string.sub(record, 1, 19) .. flag .. string.sub(record, 21))
    end
  end
  return number
end

local function is_live(record)
  return record and #record >= 26 and string.byte(record, 17) <= RETRY
end

-- A job in the place of one that is not there and that others are to wait for.
local function ghost()
  return struct.pack('>i8I8BBBBI4H', NOW, BIAS, GHOST, 0, DEFAULT_PRIORITY, HAS_DEPENDENTS, 0, 0)
end

-- The last arguments of a call; there may be more than `unpack` takes.
local function arguments(from)
  local found = {}
  for at = from, #ARGV do found[#found + 1] = ARGV[at] end
  return found
end

-- The waits of a job: what comes after its id in each.
local function add_waits(id, tails)
  local own = sized(id)
  for _, tail in ipairs(tails) do
    waits[#waits + 1] = 0
    waits[#waits + 1] = own .. tail
  end
end

local function write_edges()
  if #edges > 0 then redis.call('HINCRBY', META, 'edges', #edges / 2) end
  variadic('ZADD', DEPENDENTS, edges)
  variadic('ZADD', WAITS, waits)
end
