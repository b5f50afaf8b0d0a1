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
