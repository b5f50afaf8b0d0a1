-- Puts a new job of any shard into the place of one that waits here and holds its unique key.
--
-- KEYS  those of the shard of the holder, then line and later set of each queue
-- ARGV  call, queues (that of the holder), then the holder, the key, and id, record and large spec or
--       "" of the new job, as for insert
-- Returns 1 if it did, 0 if the holder does not wait any more, -1 if it does not hold the key; then what
-- was noted to be done at the home of the key, if that is another shard.
-- include: keys call queues variadic codes record ids waits index traits rate lanes groups turns standing unique sides blocking replacing

local id, key, by, rest = ARGV[FIRST], ARGV[FIRST + 1], ARGV[FIRST + 2], ARGV[FIRST + 3]
local raw
if has(string.byte(rest, 4), HAS_TRAITS) > 0 then rest, raw = without_traits(rest) end
local record = redis.call('HGET', JOBS, id)
local former = is_live(record) and sound(id, record)
if AGAIN and former and traits_of(former)[REPLACED_BY] == by then
  return { 1, redis.call('HGET', OUTBOX, 'k' .. id) }
end
local old = live_holder(id, key)
if not old and former and former.state ~= ACTIVE then return { -1, false } end
if not old or old.state == ACTIVE or not is_usable(old.queue) then return { 0, false } end

local place = next_place()
local new = parse(by, struct.pack('>i8I8', NOW, place + BIAS) .. rest)
new.attempt, new.traits = 0, read_traits(raw or '')
replace(old, new, ARGV[FIRST + 4] ~= '' and ARGV[FIRST + 4] or nil)
local _, window = key_of(new)
local noted
if has(new.more, REMOTE_KEY) > 0 then
  noted = struct.pack('>i8I8I8', NOW, place, window and NOW + window or 0) .. key
  redis.call('HSET', OUTBOX, 'k' .. id, noted)
else
  hold_key(key, id, window)
end
write_index()
return { 1, noted or false }
