-- Closes waits that are of no consequence: of a job that was completed, for dependents of the same
-- shard that wait for others still. Of a fan-in these are all but the last, so they are worth a short
-- cut; all else is left to `release`, which knows the queues of the dependents.
-- define: MOST_CLOSED 100
local closed_edges, waits_left = {}, {}

local function begins_with(prefix) return '[' .. prefix, '(' .. prefix .. '\255' end

-- Whether there is nothing left to do for the dependents of a job that was completed.
local function close_plainly(id)
  local parent = struct.pack('>H', #id) .. id
  local low, high = begins_with(parent)
  local edges = redis.call('ZRANGEBYLEX', DEPENDENTS, low, high, 'LIMIT', 0, MOST_CLOSED)
  local done = #edges < MOST_CLOSED
  for _, edge in ipairs(edges) do
    local _, how, size, start = struct.unpack('>BBH', edge, #parent + 9)
    local child = string.sub(edge, start - 2, start + size - 1)
    local number = string.sub(edge, #parent + 1, #parent + 8)
    local wait = child .. number .. string.char(HERE) .. id
    local left = has(how, WAITS_FOR_ONE) > 0 and 1 or waits_left[child]
      or redis.call('ZLEXCOUNT', WAITS, begins_with(child))
    if left > 1 and redis.call('ZREM', WAITS, wait) == 1 then
      left = left - 1
      closed_edges[#closed_edges + 1] = edge
    else
      done = false
    end
    waits_left[child] = left
  end
  return done
end
