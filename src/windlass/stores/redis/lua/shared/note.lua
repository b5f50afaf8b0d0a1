-- What ends is noted in JOURNAL, while that is kept: one entry of a stream for each end, with the
-- job as it is afterwards and all that it has beside its record.
local NOTING = redis.call('HEXISTS', META, 'journal') == 1

-- Not the first write of a script: a full server would refuse it (see call). The number of an
-- entry is never given again, so whoever trims late takes nothing that came since.
local function note(id, record, ran, result)
  if not NOTING then return end
  local flags, more = string.byte(record, 18), string.byte(record, 20)
  local entry = { 'at', string.format('%.0f', NOW), 'ran', ran and 1 or 0, 'id', id, 'record', record }
  local function add(field, value)
    if not value then return end
    entry[#entry + 1] = field
    entry[#entry + 1] = value
  end
  add('large', has(flags, HAS_LARGE) > 0 and redis.call('HGET', LARGE, id))
  add('result', result or (has(flags, HAS_RESULT) > 0 and redis.call('HGET', RESULTS, id)))
  add('error', has(flags, HAS_ERROR) > 0 and redis.call('HGET', ERRORS, id))
  add('progress', has(more, HAS_PROGRESS) > 0 and redis.call('HGET', PROGRESS, id))
  add('checkpoint', has(more, HAS_CHECKPOINT) > 0 and redis.call('HGET', CHECKPOINTS, id))
  add('mail', has(more, HAS_MAIL) > 0 and redis.call('HGET', MAIL, id))
  redis.call('XADD', JOURNAL, redis.call('HINCRBY', META, 'noted', 1) .. '-0', unpack(entry))
end
