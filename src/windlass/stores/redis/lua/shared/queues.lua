-- The queues that a call is about:
--   ARGV[3]  the channel on which waiting workers listen
--   ARGV[4]  how many queues; their names follow, in the order of their keys
-- define: CHANNEL ARGV[3]
local QUEUES = tonumber(ARGV[4])
local FIRST = 5 + QUEUES -- where the arguments of the script's own begin

local LINE, LATER = {}, {} -- by the queue's name
for n = 1, QUEUES do
  LINE[ARGV[4 + n]] = KEYS[FIXED_KEYS + 2 * n - 1]
  LATER[ARGV[4 + n]] = KEYS[FIXED_KEYS + 2 * n]
end

local function is_set(key)
  local kind = redis.call('TYPE', key).ok
  return kind == 'zset' or kind == 'none'
end

-- Whether a queue is one of the call, and its keys are still what they should be. To be asked before it
-- is written to: a script that stops halfway leaves half of its work.
local usable = {}
local function is_usable(queue)
  if usable[queue] == nil then
    usable[queue] = LINE[queue] ~= nil and is_set(LINE[queue]) and is_set(LATER[queue])
  end
  return usable[queue]
end

-- What to answer instead of writing anything, if one of the queues is not.
local function unusable()
  for n = 1, QUEUES do
    local queue = ARGV[4 + n]
    if not is_usable(queue) then
      local wrong = is_set(LINE[queue]) and LATER[queue] or LINE[queue]
      return redis.error_reply('WRONGTYPE the key ' .. wrong .. ' is no sorted set')
    end
  end
end
