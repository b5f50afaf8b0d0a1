-- Since when jobs have been pending: of each queue, the earliest time of those that stand first in
-- their priority.
--
-- KEYS  the jobs of the shard, then the line of each queue
-- ARGV  call
-- Returns a time for each queue, nil for one that has no pending jobs.
-- include: call variadic codes record

local times, ids, lines = {}, {}, {}
for n = 2, #KEYS do
  times[n - 1] = false
  local from = '-inf'
  while from do
    local first =
      unspoilt(redis.pcall('ZRANGEBYSCORE', KEYS[n], from, '+inf', 'WITHSCORES', 'LIMIT', 0, 1))
    from = nil
    if first[1] then
      ids[#ids + 1], lines[#lines + 1] = first[1], n - 1
      -- Places of one priority are less than half a step from its middle.
      local steps = math.floor(tonumber(first[2]) / PRIORITY_STEP + 0.5)
      from = string.format('%.0f', (steps + 0.5) * PRIORITY_STEP)
    end
  end
end
for n, record in ipairs(many(KEYS[1], ids)) do
  -- A damaged one has no time left, and counts as of now.
  local due, line = parse(ids[n], whole(record, PENDING, '')).due, lines[n]
  if not times[line] or due < times[line] then times[line] = due end
end
return times
