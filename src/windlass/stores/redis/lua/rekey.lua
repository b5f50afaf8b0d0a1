-- Changes on what terms a job of another shard holds a unique key, unless it holds it no longer, or
-- they were changed once more since.
--
-- KEYS  those of the shard that is the home of the key
-- ARGV  call, queues (none), then the key, its holder, the number of the change, until when (see unique)
-- include: keys call queues codes unique

local key, id, number, till = ARGV[FIRST], ARGV[FIRST + 1], tonumber(ARGV[FIRST + 2]), ARGV[FIRST + 3]
local value = redis.call('HGET', UNIQUE, key)
local before = value and string.byte(value) == LENT and struct.unpack('>I8', value, 10) or 0
if whose(value) == id and before < number then
  redis.call('HSET', UNIQUE, key, lent(tonumber(till), number, id))
  if tonumber(till) > 0 then redis.call('ZADD', WINDOWS, till, key) end
end
