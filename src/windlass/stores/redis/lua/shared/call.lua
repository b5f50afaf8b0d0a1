-- What every call brings along:
--   ARGV[1]  "1" if an earlier sending of this very call may have been carried out, else "0"
--   ARGV[2]  the time in milliseconds, or "" to take the server's (tests move their own clock)
-- define: AGAIN (ARGV[1] == '1')
local NOW = tonumber(ARGV[2])
if not NOW then
  local time = redis.call('TIME')
  NOW = time[1] * 1000 + math.floor(time[2] / 1000)
end

-- A full server refuses a script whose first write may take memory, and lets one go on that has
-- written. What keeps jobs alive, or ends them, is to go on: it removes nothing first.
-- define: ALLOW_WHEN_FULL redis.call('HDEL', KEYS[1], '')

-- What a command has found, or nothing if the key or the count is of another type: somebody else wrote over
-- it. That is one queue's or one job's trouble, and not that of those beside it.
local function unspoilt(reply)
  if type(reply) ~= 'table' or not reply.err then return reply end
  if string.find(reply.err, 'WRONGTYPE', 1, true) then return {} end
  if string.find(reply.err, 'not an integer', 1, true) then return {} end
  error(reply.err)
end
