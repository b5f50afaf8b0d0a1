-- Adds what a worker has counted to the buckets of now.
--
-- KEYS  what was last taken of the worker, then of each queue and each step two buckets: that of the
--       caller's time and the one after it, for time goes on
-- ARGV  call, then the number of the tally, that of this part of it, for how many milliseconds both
--       are remembered; how many steps, and of each its length, for how long its buckets are kept,
--       and when the first of the two begins; then of each queue how many counts, and name and
--       number of each
-- Returns 0 if it has become too late for these buckets, else 1.
-- include: call

-- Buckets that are over are not told any more; so they may go a little later, by the server's clock.
-- define: AT_LEISURE 60000
local number, part, steps = tonumber(ARGV[3]), tonumber(ARGV[4]), tonumber(ARGV[6])
local which, till = {}, {} -- of each step
for n = 1, steps do
  local length, kept, first = unpack(ARGV, 4 + 3 * n, 6 + 3 * n)
  local begins = NOW - NOW % tonumber(length)
  which[n] = (begins - tonumber(first)) / tonumber(length)
  till[n] = begins + tonumber(kept) + AT_LEISURE - NOW
  if which[n] ~= 0 and which[n] ~= 1 then return 0 end
end

local taken = unspoilt(redis.pcall('GET', KEYS[1]))
local last, last_part = string.match(type(taken) == 'string' and taken or '', '^(%d+) (%d+)$')
if last then
  last, last_part = tonumber(last), tonumber(last_part)
  if number < last or (number == last and part <= last_part) then return 1 end
end
redis.call('SET', KEYS[1], ARGV[3] .. ' ' .. ARGV[4], 'PX', ARGV[5])

local at, first = 7 + 3 * steps, 2 -- of the queue: its words and its keys
while at <= #ARGV do
  local last = at + 2 * tonumber(ARGV[at])
  for n = 1, steps do
    local bucket = first + 2 * (n - 1) + which[n]
    for word = at + 1, last, 2 do
      -- A count that somebody else wrote over is given up; those beside it go on.
      unspoilt(redis.pcall('HINCRBY', KEYS[bucket], ARGV[word], ARGV[word + 1]))
    end
    redis.call('PEXPIRE', KEYS[bucket], till[n])
  end
  at, first = last + 1, first + 2 * steps
end
return 1
