-- What the parents of new jobs mean for them. Its arguments:
--   "1" if a parent that is not there refuses the call, "0" if it counts as ended
--   how many reasons; for each: parent, state, and why its dependents are cancelled
--   how many jobs depend on others; for each: position (from 0), "1" if it runs anyway,
--     how many parents, their ids
--   how many others are told what to do; for each: position, why it is cancelled or "",
--     how many waits, what comes after its id in each (see waits)
-- Before anything is written it tells what must be known first: position and id of a parent that is
-- not there, or parents and states for which a reason is needed.
local kin, reasons = {}, {}
local wanted_here = {} -- by others of the same call, which look them up when it is their turn

-- Records of jobs by id, looked up once: of those that were there before, nothing changes here but
-- that others depend on them, and `blocking` remembers that.
local looked_up = {}
local function records_of(ids)
  local asked = {}
  for _, id in ipairs(ids) do
    if looked_up[id] == nil then asked[#asked + 1] = id end
  end
  for n, record in ipairs(many(JOBS, asked)) do looked_up[asked[n]] = record end
end

-- Ids of jobs that come before in the same call stand for jobs that will be there, or are not
-- needed because another holds their unique key.
local function read_parents(ids, at)
  local strict = ARGV[at] == '1'
  at = at + 2
  for _ = 1, tonumber(ARGV[at - 1]) do
    reasons[ARGV[at] .. ARGV[at + 1]] = ARGV[at + 2]
    at = at + 3
  end
  local coming, seen, wanted = {}, 0, {}
  at = at + 1
  for _ = 1, tonumber(ARGV[at - 1]) do
    local n, own = ARGV[at] + 1, { runs_anyway = ARGV[at + 1] == '1' }
    for m = seen + 1, n - 1 do coming[ids[m]] = true end
    seen = n - 1
    local number = tonumber(ARGV[at + 2])
    for m = 1, number do own[m] = ARGV[at + 2 + m] end
    records_of(own)
    for m = 1, number do
      local record = looked_up[own[m]]
      local state = record and not is_ghost(record) and string.byte(record, 17)
      if coming[own[m]] then
        wanted_here[own[m]] = true
      elseif not state and strict then
        return { n - 1, own[m] }
      end
      if not own.runs_anyway and (state == DONE_DEAD or state == DONE_CANCELLED)
        and not reasons[own[m] .. state] then
        wanted[#wanted + 1] = own[m]
        wanted[#wanted + 1] = state
      end
    end
    kin[n] = own
    at = at + 3 + number
  end
  if #wanted > 0 then return { 'why', unpack(wanted) } end
  at = at + 1
  for _ = 1, tonumber(ARGV[at - 1]) do
    local told = { why = ARGV[at + 1], tails = {} }
    local number = tonumber(ARGV[at + 2])
    for m = 1, number do told.tails[m] = ARGV[at + 2 + m] end
    kin[ARGV[at] + 1] = told
    at = at + 3 + number
  end
end

-- Those of its parents that are live, each once; or why it is cancelled.
local function look_at(parents)
  local open, asked = {}, {}
  for m, parent in ipairs(parents) do
    local record = looked_up[parent]
    -- It may have come in this very call.
    if not record or is_ghost(record) then record = redis.call('HGET', JOBS, parent) end
    local state = record and string.byte(record, 17)
    if not parents.runs_anyway and (state == DONE_DEAD or state == DONE_CANCELLED) then
      return {}, reasons[parents[m] .. state]
    end
    if is_live(record) and not asked[parents[m]] then
      asked[parents[m]] = true
      open[#open + 1] = { parents[m], record }
    end
  end
  return open
end

-- Lets a job wait for parents that are live; what comes after its id in each wait.
local function wait_for(open, runs_anyway, id, queue)
  local tails = {}
  local how = (runs_anyway and RUNS_ANYWAY or 0) + (#open == 1 and WAITS_FOR_ONE or 0)
  for m, parent in ipairs(open) do
    local number = add_edge(parent[1], parent[2], 0, how, id, queue)
    tails[m] = struct.pack('>I8B', number, HERE) .. parent[1]
  end
  return tails
end

-- Blocks or cancels a new job if its parents ask for it.
local function heed_parents(job, own)
  local why, tails = own.why, own.tails
  if not tails then
    local open
    open, why = look_at(own)
    tails = wait_for(open, own.runs_anyway, job.id, job.queue)
  end
  if why and why ~= '' then
    redis.call('HSET', ERRORS, job.id, why)
    job.flags = with(job.flags, HAS_ERROR)
    job.state, job.finished = DONE_CANCELLED, NOW
  elseif #tails > 0 then
    add_waits(job.id, tails)
    job.state = IS_BLOCKED
  end
end
