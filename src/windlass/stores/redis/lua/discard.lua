-- Removes what is left of a job whose record is damaged, from wherever it was found to stand. Its
-- record does not tell that, so the caller has looked, and comes with some queues after the others.
--
-- KEYS  those of the shard, then line and later set of each queue, then its attempts
-- ARGV  call, queues, then its id, "1" if these are the last queues, "1" if other shards may keep its id;
--       how many members of later sets, the queue and the member of each; how many of the sets of
--       finished jobs, state and member of each; the unique keys that are held in its name
-- Returns 1 if it may go on or is done, 0 if the job is active or is no longer damaged; and what is owed
-- to other shards and to dependents (see finish).
-- include: keys call queues variadic codes record ids waits index traits rate lanes groups turns standing unique sides endings

local id, is_last, is_shared = ARGV[FIRST], ARGV[FIRST + 1] == '1', ARGV[FIRST + 2] == '1'
local record = redis.call('HGET', JOBS, id)
if (record and sound(id, record)) or redis.call('ZSCORE', LEASES, id) then return { 0, {}, {} } end

for queue in pairs(LINE) do
  if unspoilt(redis.pcall('ZREM', LINE[queue], id)) == 1 then count(queue, PENDING, -1) end
end
local at = FIRST + 3
for _ = 1, tonumber(ARGV[at]) do
  local queue, member = ARGV[at + 1], ARGV[at + 2]
  if unspoilt(redis.pcall('ZREM', LATER[queue], member)) == 1 then count(queue, string.byte(member), -1) end
  at = at + 2
end
at = at + 1

-- Of which queue it was is known only if that much is left of it, and there is such a count.
local function uncount(state)
  local length = #(record or '') >= 26 and struct.unpack('>H', record, 25) or 0
  local queue = string.sub(record or '', 27, 26 + length)
  if redis.call('HEXISTS', COUNTS, state .. queue) == 1 then count(queue, state, -1) end
end

-- Of which queue its lane is, it does not say either: one that has such a lane is the one.
local function leave_lane()
  local raw = redis.call('HGET', TRAITS, id)
  local own = raw and read_traits(raw)[LANE]
  for queue in pairs(own and LINE or {}) do
    if redis.call('HEXISTS', LANES, sized(queue) .. string.sub(own, LIMITS_SIZE + 1)) == 1 then
      turns().leave({ id = id, queue = queue, more = HAS_TRAITS, traits = read_traits(raw) })
    end
  end
end

leave_lane()
if not is_last then
  write_index()
  return { 1, {}, {} }
end

for _ = 1, tonumber(ARGV[at]) do
  local state = tonumber(ARGV[at + 1])
  if redis.call('ZREM', FINISHED[state], ARGV[at + 2]) == 1 then uncount(state) end
  at = at + 2
end
for n = at + 1, #ARGV do give_up_key(ARGV[n], id) end
if redis.call('ZREM', BLOCKED, readable(id)) == 1 then uncount(IS_BLOCKED) end
forget_waits(id)
redis.call('ZREM', EXPIRY, id)
if #members(DEPENDENTS, sized(id), 1) > 0 then owe_dependents(id, WAS_DELETED) end
for _, side in ipairs(SIDES) do redis.call('HDEL', side[3], id) end
redis.call('HDEL', JOBS, id)
redis.call('DEL', KEYS[#KEYS])
if is_shared then owe(id, 'i', id) end
write_index()
return { 1, owed, write_endings() }
