-- Lists pending jobs, queue by queue in the order in which they will run.
--
-- KEYS  those of the shard, then line and later set of each queue
-- ARGV  call, queues, what to show (see show), then the most jobs, and the bound to go on after in the first queue:
--       a score after "(", or "-inf"
-- Returns ten values for each (see show).
-- include: keys call queues variadic codes ids waits show

local left, after = tonumber(ARGV[OWN]), ARGV[OWN + 1]
for n = 1, QUEUES do
  local ids = unspoilt(redis.pcall('ZRANGEBYSCORE', LINE[ARGV[4 + n]], after, '+inf', 'LIMIT', 0, left))
  if not show_all(ids) then break end
  left, after = left - #ids, '-inf'
  if left == 0 then break end
end
return rows
