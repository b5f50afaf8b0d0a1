-- Lists scheduled or retry jobs, queue by queue in the order of their time.
--
-- KEYS  those of the shard, then line and later set of each queue
-- ARGV  call, queues, what to show (see show), then the most jobs, the state, and where to go on in the first queue:
--       due time and place of the last job seen (16 bytes), and its id if it is of this shard, or ""
-- Returns ten values for each (see show).
-- include: keys call queues variadic codes ids waits show

local left, state, after = tonumber(ARGV[OWN]), tonumber(ARGV[OWN + 1]), ARGV[OWN + 2]
local begin, finish = '[' .. string.char(state), '(' .. string.char(state + 1)
-- Without an id: none begins with this byte, so what follows is after every job at that place.
if #after == 16 then after = after .. '\255' end
local low = after == '' and begin or '(' .. string.char(state) .. after
for n = 1, QUEUES do
  local found =
    unspoilt(redis.pcall('ZRANGEBYLEX', LATER[ARGV[4 + n]], low, finish, 'LIMIT', 0, left))
  local ids = {}
  for m, member in ipairs(found) do ids[m] = string.sub(member, 18) end
  if not show_all(ids) then break end
  left, low = left - #ids, begin
  if left == 0 then break end
end
return rows
