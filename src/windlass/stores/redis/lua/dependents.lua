-- The dependents that endings are about, in the order in which they came.
--
-- KEYS  those of the shard of the parents
-- ARGV  call, queues (none), then the most dependents, and endings
-- Returns a list of edges for each ending that it came to (see waits, endings).
-- include: keys call queues variadic codes ids waits settling

local left, found = tonumber(ARGV[FIRST]), {}
for at = FIRST + 1, #ARGV do
  if left <= 0 then break end
  local edges = edges_of(ARGV[at], left)
  found[#found + 1] = edges
  left = left - #edges
end
return found
