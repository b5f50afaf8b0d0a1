-- Lists finished jobs of one state, newest first.
--
-- KEYS  those of the shard
-- ARGV  call, queues (none), what to show (see show), then the most jobs, the state, and where to go on: time and place of
--       the last job seen (16 bytes), and its id if it is of this shard, or ""
-- Returns ten values for each (see show).
-- include: keys call queues variadic codes ids waits show

local LISTS = { [DONE_COMPLETED] = COMPLETED, [DONE_DEAD] = DEAD, [DONE_CANCELLED] = CANCELLED }
local most, state, after = tonumber(ARGV[OWN]), tonumber(ARGV[OWN + 1]), ARGV[OWN + 2]

-- The newest of each term (see index), until there are as many as asked for of both together.
local lists = {}
for term = 0, 1 do
  local mark = string.char(term)
  local high = after == '' and '(' .. string.char(term + 1) or '(' .. mark .. after
  lists[term] =
    redis.call('ZREVRANGEBYLEX', LISTS[state], high, '[' .. mark, 'LIMIT', 0, most)
end

local function moment_of(member)
  local time, place = struct.unpack('>I8I8', member, 2)
  return time, place
end

-- Byte by byte: the operator goes by a language.
local function is_greater(one, other)
  for at = 18, math.min(#one, #other) do
    local mine, theirs = string.byte(one, at), string.byte(other, at)
    if mine ~= theirs then return mine > theirs end
  end
  return #one > #other
end

local function is_newer(one, other)
  local time, place = moment_of(one)
  local other_time, other_place = moment_of(other)
  if time ~= other_time then return time > other_time end
  if place ~= other_place then return place > other_place end
  -- Jobs of groups may have had the same place, one after the other.
  return is_greater(one, other)
end

local ids, at, beside = {}, 1, 1
while #ids < most do
  local one, other = lists[0][at], lists[1][beside]
  if not one and not other then break end
  if not other or (one and is_newer(one, other)) then
    ids[#ids + 1], at = string.sub(one, 18), at + 1
  else
    ids[#ids + 1], beside = string.sub(other, 18), beside + 1
  end
end
show_all(ids)
return rows
