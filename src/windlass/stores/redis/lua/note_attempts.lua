-- Keeps what attempts came to, one record for each fence: until when I8, then the record. A key
-- lives as long as the last of its records.
--
-- KEYS  the attempts of each job
-- ARGV  call, then for how many milliseconds, how many of one job are kept, and of each attempt the
--       number of its key, its fence (8 bytes) and its record
-- include: call

-- What is over is not told any more; so the key may go a little later, by the server's own clock.
-- define: AT_LEISURE 60000
local keep, most = tonumber(ARGV[3]), tonumber(ARGV[4])
local head = struct.pack('>I8', NOW + keep)
for at = 5, #ARGV, 3 do
  unspoilt(redis.pcall('HSET', KEYS[tonumber(ARGV[at])], ARGV[at + 1], head .. ARGV[at + 2]))
end

-- As the bytes of numbers sort; what is too short for one was damaged, and goes first.
local function earlier(one, other)
  if #one ~= #other then return #one < #other end
  return one < other
end

for n = 1, #KEYS do
  local number = unspoilt(redis.pcall('HLEN', KEYS[n]))
  if type(number) == 'number' and number > most then
    local fences = redis.call('HKEYS', KEYS[n])
    table.sort(fences, earlier)
    redis.call('HDEL', KEYS[n], unpack(fences, 1, number - most))
  end
  if redis.call('PTTL', KEYS[n]) < keep + AT_LEISURE then
    redis.call('PEXPIRE', KEYS[n], keep + AT_LEISURE)
  end
end
