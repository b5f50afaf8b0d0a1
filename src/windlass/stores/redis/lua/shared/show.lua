-- All that is known of a job, as ten values: id, record, end of the lease, large spec, result,
-- error, progress, checkpoint, mail, what it waits for (see edges); what it does not have is nil.
-- Scripts that show jobs have, before arguments of their own (from OWN on), the most bytes to show
-- beside records, and "1" to leave out what may be large. Where that is too little they end behind the
-- job with which it was reached, and one value comes after the tens: how many were looked at.
-- define: OWN (FIRST + 2)
local room, is_brief = tonumber(ARGV[FIRST]), ARGV[FIRST + 1] == '1'
local rows = {}

local function beside(key, id, is_there)
  if not is_there then return false end
  local value = redis.call('HGET', key, id)
  if value then room = room - #value end
  return value
end

-- Whether there is room for more.
local function show(id, record)
  -- Too damaged to be shown; a worker that gets it lets it die.
  if not record or #record < 26 then return true end
  local flags, more = string.byte(record, 18), string.byte(record, 20)
  local state = string.byte(record, 17)
  if state == GHOST then return true end
  local n = #rows
  rows[n + 1], rows[n + 2] = id, record
  rows[n + 3] = state == ACTIVE and redis.call('ZSCORE', LEASES, id)
  rows[n + 4] = beside(LARGE, id, not is_brief and has(flags, HAS_LARGE) > 0)
  rows[n + 5] = beside(RESULTS, id, not is_brief and has(flags, HAS_RESULT) > 0)
  rows[n + 6] = beside(ERRORS, id, has(flags, HAS_ERROR) > 0)
  rows[n + 7] = beside(PROGRESS, id, has(more, HAS_PROGRESS) > 0)
  rows[n + 8] = beside(CHECKPOINTS, id, not is_brief and has(more, HAS_CHECKPOINT) > 0)
  rows[n + 9] = beside(MAIL, id, has(more, HAS_MAIL) > 0)
  rows[n + 10] = state == IS_BLOCKED and waits_of(id)
  room = room - #record
  return room > 0
end

-- Shows jobs until there is no more room; whether there still is.
local function show_all(ids)
  for n, record in ipairs(many(JOBS, ids)) do
    if not show(ids[n], record) then
      rows[#rows + 1] = n
      return false
    end
  end
  return true
end
