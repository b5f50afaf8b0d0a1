-- All that is known of a job, as ten values: id, record, end of the lease, large spec, result,
-- error, progress, checkpoint, mail, what it waits for (see edges); what it does not have is nil.
local rows = {}
local function show(id, record)
  -- Too damaged to be shown; a worker that gets it lets it die.
  if not record or #record < 26 then return end
  local flags, more = string.byte(record, 18), string.byte(record, 20)
  local state = string.byte(record, 17)
  if state == GHOST then return end
  local n = #rows
  rows[n + 1], rows[n + 2] = id, record
  rows[n + 3] = state == ACTIVE and redis.call('ZSCORE', LEASES, id)
  rows[n + 4] = has(flags, HAS_LARGE) > 0 and redis.call('HGET', LARGE, id)
  rows[n + 5] = has(flags, HAS_RESULT) > 0 and redis.call('HGET', RESULTS, id)
  rows[n + 6] = has(flags, HAS_ERROR) > 0 and redis.call('HGET', ERRORS, id)
  rows[n + 7] = has(more, HAS_PROGRESS) > 0 and redis.call('HGET', PROGRESS, id)
  rows[n + 8] = has(more, HAS_CHECKPOINT) > 0 and redis.call('HGET', CHECKPOINTS, id)
  rows[n + 9] = has(more, HAS_MAIL) > 0 and redis.call('HGET', MAIL, id)
  rows[n + 10] = state == IS_BLOCKED and waits_of(id)
end
