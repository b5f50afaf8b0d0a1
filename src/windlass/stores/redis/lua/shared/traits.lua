-- What few jobs have more, in TRAITS by id: tag B, length H and value of each.
--   STARTS_FREE   (empty) it gives up its unique key when it is claimed
--   WINDOW        the unique key that it holds for a time, and not in its record: how long I8, key
--   REPLACED_BY   the last job that came and whose place it took
--   LANE          the lane that it waits in: its limits (see lanes), its name
--   TURN          that it has a slot of its lane (empty), or waits for one: its turn B (see lanes)
--   GROUP         the group that it takes turns for: weight I4, name
-- A new job brings them at the end of its record, with their length H behind them.
-- What they mean (see turns) is made ready unless a script knows better: it costs microseconds.
-- define: NEEDS_TURNS true
local WITH_TURNS = NEEDS_TURNS
-- define: STARTS_FREE 1
-- define: WINDOW 2
-- define: REPLACED_BY 3
-- define: LANE 4
-- define: TURN 5
-- define: GROUP 6
-- define: LAST_TRAIT 6
local SHORTEST = { [WINDOW] = 8, [LANE] = 41, [GROUP] = 4 } -- what is below that was damaged
local function read_traits(raw)
  local found, at = {}, 1
  while at + 2 <= #raw do
    local tag, length, start = struct.unpack('>BH', raw, at)
    at = start + length
    local value = string.sub(raw, start, at - 1)
    if #value >= (SHORTEST[tag] or 0) then found[tag] = value end
  end
  return found
end

local function traits_of(job)
  if not job.traits then
    local raw = has(job.more, HAS_TRAITS) > 0 and redis.call('HGET', TRAITS, job.id)
    job.traits = read_traits(raw or '')
  end
  return job.traits
end

-- Writes them down; the record is saved afterwards, for it says whether there are any.
local function save_traits(job)
  local parts = {}
  for tag = 1, LAST_TRAIT do
    local value = job.traits[tag]
    if value then parts[#parts + 1] = struct.pack('>BH', tag, #value) .. value end
  end
  if #parts > 0 then
    redis.call('HSET', TRAITS, job.id, table.concat(parts))
    job.more = with(job.more, HAS_TRAITS)
  elseif has(job.more, HAS_TRAITS) > 0 then
    redis.call('HDEL', TRAITS, job.id)
    job.more = job.more - HAS_TRAITS
  end
end

-- A record that was damaged and is one again (see `whole`), with the flags that its traits and its
-- dependents ask for: its slot is to be given up, and they are to be told.
local function mended(id, record)
  local more = redis.call('HEXISTS', TRAITS, id) == 1 and HAS_TRAITS or 0
  local own = struct.pack('>H', #id) .. id
  if redis.call('ZLEXCOUNT', DEPENDENTS, '[' .. own, '(' .. own .. '\255') > 0 then
    more = more + HAS_DEPENDENTS
  end
  return string.sub(record, 1, 19) .. string.char(more) .. string.sub(record, 21)
end

-- A record as a new job brings it, without its traits; and these.
local function without_traits(record)
  local length = struct.unpack('>H', record, #record - 1)
  local last = #record - 2 - length
  return string.sub(record, 1, last), string.sub(record, last + 1, -3)
end
