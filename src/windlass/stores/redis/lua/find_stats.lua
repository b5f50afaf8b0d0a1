-- What was counted in buckets.
--
-- KEYS  the buckets
-- ARGV  call
-- Returns of each that there is its number, from 0 on, and name and number of each count.
-- include: call

local found = {}
for n = 1, #KEYS do
  local counts = unspoilt(redis.pcall('HGETALL', KEYS[n]))
  if #counts > 0 then
    found[#found + 1] = n - 1
    found[#found + 1] = counts
  end
end
return found
