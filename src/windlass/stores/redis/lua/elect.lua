-- Wins or renews the leadership of a role.
--
-- KEYS  the terms
-- ARGV  call, then the role, who stands for it, for how many milliseconds, and how many a term has
--       at the most
-- Returns term and end, or nil if another has it.
-- include: call

local role, holder = ARGV[3], ARGV[4]
local until_then = NOW + tonumber(ARGV[5])
local term, ends, present = 0, 0, nil
local stored = redis.call('HGET', KEYS[1], role)
if stored and #stored >= 16 then
  term, ends = struct.unpack('>i8i8', stored)
  present = string.sub(stored, 17)
end
if present ~= holder then
  -- One that ends later was given before the clock was set back.
  local latest = math.max(until_then, NOW + tonumber(ARGV[6]))
  if present and ends > NOW and ends <= latest then return false end
  term = term + 1
end
ALLOW_WHEN_FULL
redis.call('HSET', KEYS[1], role, struct.pack('>i8i8', term, until_then) .. holder)
return { term, until_then }
