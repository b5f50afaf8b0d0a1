-- Lists lanes by queue and name.
--
-- KEYS  those of the shard
-- ARGV  call, queues (none), then the most lanes, and the last one seen: queue and name with a zero
--       byte between them, or ""
-- Returns four values for each: queue and name in this way, its limits (nil if they are damaged), how
-- many have a slot, how many wait for one.
-- include: keys call queues variadic codes ids traits lanes

local most, after = ARGV[FIRST], ARGV[FIRST + 1]
local lanes, names, fields, rows = open_lanes(), {}, {}, {}
local found = redis.call('ZRANGEBYLEX', ENTERED, '(' .. LISTED .. after, '+', 'LIMIT', 0, most)
for n, member in ipairs(found) do
  names[n] = string.sub(member, #LISTED + 1)
  local last = string.find(names[n], '\0', 1, true)
  local queue = string.sub(names[n], 1, last - 1)
  if queue == DEFAULT_QUEUE then queue = '' end
  fields[n] = sized(queue) .. string.sub(names[n], last + 1)
end
for n, raw in ipairs(many(LANES, fields)) do
  local lane = { prefix = sized(fields[n]) }
  rows[4 * n - 3] = names[n]
  rows[4 * n - 2] = raw and #raw >= LIMITS_SIZE and string.sub(raw, 1, LIMITS_SIZE)
  rows[4 * n - 1] = lanes.holders(lane)
  rows[4 * n] = lanes.waiting(lane)
end
return rows
