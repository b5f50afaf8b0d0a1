-- The oldest entries of the journal, as far as there is room.
--
-- KEYS  the journal
-- ARGV  call, then the most entries, and the most bytes but for the last one
-- Returns entries as XRANGE does.
-- include: call

local left, room = tonumber(ARGV[3]), tonumber(ARGV[4])
local entries, from = {}, '-'
while left > 0 and room > 0 do
  local found = redis.call('XRANGE', KEYS[1], from, '+', 'COUNT', 1)
  if #found == 0 then break end
  local entry = found[1]
  entries[#entries + 1] = entry
  for _, value in ipairs(entry[2]) do room = room - #value end
  left, from = left - 1, '(' .. entry[1]
end
return entries
