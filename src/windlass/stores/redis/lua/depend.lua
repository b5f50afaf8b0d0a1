-- Lets jobs of any shard depend on those that are here: the first step, before they come in.
--
-- KEYS  those of the shard of the parents
-- ARGV  call, queues (none), then "1" if a job is to wait whatever has become of its parents, as it
--       did in another store, and four values for each: parent, shard of the dependent and how it
--       waits (2 bytes, see waits), dependent, its queue; without a dependent it is all that wait for
--       this parent in that other shard
-- Returns a number for each: of the edge if the parent is live or was to be waited for, else 0 if it
-- is not here, or its state below zero; then what is owed to dependents (see endings).
-- include: keys call queues variadic codes ids waits endings blocking

local waits_anyway, numbers, ended = ARGV[FIRST] == '1', {}, {}
for at = FIRST + 1, #ARGV, 4 do
  local parent, how, id, queue = ARGV[at], ARGV[at + 1], ARGV[at + 2], ARGV[at + 3]
  local record = redis.call('HGET', JOBS, parent)
  local state = record and string.byte(record, 17)
  local number = 0
  if is_live(record) or (waits_anyway and (not state or state == GHOST)) then
    if not record then
      record = ghost()
      redis.call('HSET', JOBS, parent, record)
    end
    number = add_edge(parent, record, string.byte(how, 1), string.byte(how, 2), id, queue)
  elseif state and state ~= GHOST then
    number = -state
    if waits_anyway then
      -- As if it ended now: it has no flag, for it owes the others nothing.
      flagged[parent] = true
      number = add_edge(parent, record, string.byte(how, 1), string.byte(how, 2), id, queue)
      ended[#ended + 1] = { parent, state }
    end
  end
  numbers[#numbers + 1] = number
end
write_edges()
for _, each in ipairs(ended) do owe_dependents(each[1], each[2]) end
return { numbers, write_endings() }
