-- Holds leases for a while longer.
--
-- KEYS  those of the shard
-- ARGV  call, queues (none), then the lease in milliseconds, and id and fence (8 bytes) of each
-- Returns the positions (from 0) of those that are no longer held.
-- include: keys call queues variadic codes

local until_then = string.format('%.0f', NOW + tonumber(ARGV[FIRST]))
local ids = {}
for at = FIRST + 1, #ARGV, 2 do ids[#ids + 1] = ARGV[at] end
local lost, leases = {}, {}
for n, record in ipairs(many(JOBS, ids)) do
  local held = record and string.byte(record, 17) == ACTIVE
    and string.sub(record, -16, -9) == ARGV[FIRST + 2 * n]
  if held then
    leases[#leases + 1] = until_then
    leases[#leases + 1] = ids[n]
  else
    lost[#lost + 1] = n - 1
  end
end
ALLOW_WHEN_FULL
variadic('ZADD', LEASES, leases)
return lost
