-- What becomes of new jobs whose unique keys are held, in this shard, by others (see core/unique.py):
-- by what they asked for, the holder stands for one, is replaced by it, or is followed by it. Its
-- arguments:
--   how many jobs may follow; for each: position (from 0), the holder that it follows, its record as
--   it is then, and the spec if that is too large for it
-- Before anything is written it tells what must be known first: "clash", then position, holder, "1" if
-- it is to be followed, and its queue, of each job that needs the queue or the record.
-- define: REPLACES 1
-- define: KEEPS_THE_LAST 2
local followers = {}

-- Where the arguments after these begin.
local function read_followers(at)
  local number = tonumber(ARGV[at])
  for n = 1, number do
    local from = at + 4 * n - 3
    local rest, raw = ARGV[from + 2], nil
    if has(string.byte(rest, 4), HAS_TRAITS) > 0 then rest, raw = without_traits(rest) end
    followers[ARGV[from] + 1] = {
      holder = ARGV[from + 1], rest = rest, traits = raw,
      spec = ARGV[from + 3] ~= '' and ARGV[from + 3] or nil,
    }
  end
  return at + 1 + 4 * number
end

local called
local function of_this_call(id)
  if not id then return false end
  if not called then
    called = {}
    for n = 1, tonumber(ARGV[FIRST]) do called[ARGV[FIRST + 1 + 2 * n]] = true end
  end
  return called[id]
end

-- The holder that is not just to stand for a new job. Not the one that the first sending of this call
-- has replaced, whatever has become of it since.
local function clashes_with(job, holder)
  if not job.conflict then return nil end
  local old = live_holder(holder, (key_of(job)))
  if not old or (old.state == ACTIVE and job.conflict ~= KEEPS_THE_LAST) then return nil end
  if AGAIN and of_this_call(traits_of(old)[REPLACED_BY]) then return nil end
  return old
end

local function foresee(new)
  local unsaid = { 'clash' }
  for n = 1, tonumber(ARGV[FIRST]) do
    -- Its attempt says what is asked for; the other bytes of it are not used.
    local asks = string.byte(ARGV[FIRST + 2 + 2 * n], 8) > 0
    local job = asks and new(n)
    local holder = job and has(job.more, REMOTE_KEY) == 0 and holder_of((key_of(job)))
    local old = holder and clashes_with(job, holder)
    if old then
      local follows = old.state == ACTIVE
      local known = LINE[old.queue]
      if follows then known = followers[n] and followers[n].holder == holder end
      if not known then
        for _, word in ipairs({ n - 1, holder, follows and 1 or 0, old.queue }) do
          unsaid[#unsaid + 1] = word
        end
      end
    end
  end
  return #unsaid > 1 and unsaid or nil
end

-- Sees to a clash; if the new job follows the holder: the job, its large spec, and its waits.
local function clash(n, job, spec, holder)
  local old = clashes_with(job, holder)
  if not old then return nil end
  -- What was looked up of it is not so any more.
  looked_up[holder] = nil
  if old.state ~= ACTIVE then
    local key, window = key_of(job)
    replace(old, job, spec)
    hold_key(key, holder, window)
    return nil
  end
  yield_key(old)
  local heir = parse(job.id, struct.pack('>i8I8', NOW, job.place + BIAS) .. followers[n].rest)
  if followers[n].traits then heir.traits, heir.at_end = read_traits(followers[n].traits), true end
  heir.attempt = 0
  local record = redis.call('HGET', JOBS, holder)
  local tails = wait_for({ { holder, record } }, true, heir.id, heir.queue)
  return heir, followers[n].spec, tails
end
