-- Applies what attempts came to, to those jobs whose fence still holds.
--
-- KEYS  those of the shard, then line and later set of each queue
-- ARGV  call, queues, then
--       how many were completed; id, fence (8 bytes) and result of each, "" for none
--       how many others; for each: id, fence, move, result, error, the signal that it awaits, where a
--       move is state B, refund B, has a result B, has a moment B, moment or delay i8, how many
--       workers were lost H, and no error or signal is ""
-- Returns the positions (from 0, over both lists) of those that were lost; then what is owed to
-- other shards: "u" or "i", id, name for each; then what is owed to dependents (see endings).
-- include: keys call queues variadic codes record ids index traits rate lanes groups turns standing unique sides lost mail note endings closing
-- define: NEEDS_TURNS redis.call('EXISTS', TRAITS) == 1

local plain = tonumber(ARGV[FIRST])
local others = tonumber(ARGV[FIRST + 1 + 3 * plain])
local rest = FIRST + 2 + 3 * plain

local ids, fences = {}, {}
for n = 1, plain do
  ids[n], fences[n] = ARGV[FIRST + 3 * n - 2], ARGV[FIRST + 3 * n - 1]
end
for n = 1, others do
  ids[plain + n], fences[plain + n] = ARGV[rest + 6 * n - 6], ARGV[rest + 6 * n - 5]
end
local records = many(JOBS, ids)

local sub, byte = string.sub, string.byte
local lost = {}

-- Carried out before, when the answer was lost: nobody has claimed the job since.
local function was_mine(n)
  if not AGAIN then return false end
  if not records[n] or byte(records[n], 17) == GHOST then return true end
  local job = sound(ids[n], records[n])
  return job and job.fence and struct.pack('>i8', job.fence) == fences[n] and job.state ~= ACTIVE
end

local function holds(n)
  local record = records[n]
  if record and byte(record, 17) == ACTIVE and sub(record, -16, -9) == fences[n] then
    return true
  end
  if not was_mine(n) then lost[#lost + 1] = n - 1 end
  return false
end

-- Parks a job until a signal comes, unless it has come; or ends that. Released, it still has not got
-- what did not come in time.
local function park(job, awaits)
  local before, words = mail_of(job)
  if job.state == PENDING then
    awaits = before
  elseif awaits and word_in(words, awaits) then
    job.state = PENDING
    awaits = nil
  elseif job.state ~= SCHEDULED then
    awaits = nil
  end
  if job.state == DONE_COMPLETED then words = '' end
  save_mail(job, awaits, words)
end

local function conclude(job, move)
  unindex(job)
  job.attempt = job.attempt - move.refund
  if move.result then
    redis.call('HSET', RESULTS, job.id, move.result)
    job.flags = with(job.flags, HAS_RESULT)
  elseif has(job.flags, HAS_RESULT) > 0 then
    redis.call('HDEL', RESULTS, job.id)
    job.flags = job.flags - HAS_RESULT
  end
  if move.error ~= '' then
    redis.call('HSET', ERRORS, job.id, with_lost(move.error, move.lost))
    job.flags = with(job.flags, HAS_ERROR)
  else
    set_lost(job, move.lost)
  end
  job.state = move.state
  if move.awaits or has(job.more, HAS_MAIL) > 0 then park(job, move.awaits) end
  if job.state == DONE_COMPLETED and has(job.more, HAS_CHECKPOINT) > 0 then
    redis.call('HDEL', CHECKPOINTS, job.id)
    job.more = job.more - HAS_CHECKPOINT
  end
  if FINISHED[job.state] then
    job.finished = NOW
    end_for_dependents(job, job.state)
    note(job.id, build(job), true)
    settle_finished(job)
    return
  end
  if job.state == PENDING then
    job.place = redis.call('HINCRBY', META, 'front', -1)
  else
    job.due = move.moment == 1 and move.time or NOW + move.time
  end
  note(job.id, build(job), true)
  index(job)
  save(job)
end

-- Completed, without any of what makes a job more than one line in a few lists.
-- define: SLOW (HAS_UNIQUE + HAS_RESULT)
local leases, gone, kept, listed, expiring, results = {}, {}, {}, {}, {}, {}
local today = struct.pack('>I8', NOW)
local usual = string.char(USUAL) .. today
local by_queue, by_fence, slow, notes, released = {}, {}, {}, {}, {}

local function completed(record, flags, more)
  local head = sub(record, 1, 16) .. string.char(DONE_COMPLETED, flags + HAS_DONE)
  if more == 0 then return head .. sub(record, 19) .. today end
  return head .. sub(record, 19, 19) .. '\0' .. sub(record, 21) .. today
end

local function complete(n)
  local id, record, result = ids[n], records[n], ARGV[FIRST + 3 * n]
  local flags, _, more = byte(record, 18, 20)
  local high, low = byte(record, 25, 26)
  local last = 26 + high * 256 + low -- of the queue's name
  local keep = DEFAULT_KEEP
  -- Nearly all have run and that is all there is to say of them.
  if flags ~= HAS_RUN or more > 0 then
    if not is_whole(record, ACTIVE) then
      lost[#lost + 1] = n - 1
      return
    end
    if has(flags, HAS_KEEP) > 0 then
      keep = struct.unpack('>i8', record, last + 1 + (has(flags, HAS_DUE) > 0 and 8 or 0))
    end
    if (more > 0 and more ~= HAS_DEPENDENTS) or has(flags, SLOW) > 0
      or (keep == 0 and has(flags, HAS_LARGE + HAS_ERROR) > 0) then
      slow[#slow + 1] = n
      return
    end
  end
  local queue, mark = sub(record, 27, last), fences[n]
  leases[#leases + 1] = id
  by_fence[mark] = (by_fence[mark] or 0) + 1
  local number = by_queue[queue]
  if not number then
    number = { 0, 0 }
    by_queue[queue] = number
  end
  number[1] = number[1] + 1
  if more > 0 then released[#released + 1] = id end
  if NOTING then
    notes[#notes + 1] = { id, completed(record, flags, more), result ~= '' and result }
  end
  if keep == 0 then
    gone[#gone + 1] = id
    return
  end
  number[2] = number[2] + 1
  if result ~= '' then
    results[#results + 1] = id
    results[#results + 1] = result
    flags = flags + HAS_RESULT
  end
  kept[#kept + 1] = id
  kept[#kept + 1] = completed(record, flags, more)
  listed[#listed + 1] = 0
  if keep == DEFAULT_KEEP then
    listed[#listed + 1] = usual .. sub(record, 9, 16) .. id
  else
    listed[#listed + 1] = string.char(OTHER) .. today .. string.sub(record, 9, 16) .. id
    expiring[#expiring + 1] = NOW + keep
    expiring[#expiring + 1] = id
  end
end

for n = 1, plain do
  if holds(n) then complete(n) end
end
-- The first write is one that Redis allows when it is out of memory: a full one can be drained.
variadic('ZREM', LEASES, leases)
variadic('HDEL', JOBS, gone)
variadic('HSET', JOBS, kept)
variadic('ZADD', COMPLETED, listed)
variadic('ZADD', EXPIRY, expiring)
variadic('HSET', RESULTS, results)
for _, each in ipairs(notes) do note(each[1], each[2], true, each[3]) end
if #released > 0 then
  for _, id in ipairs(released) do
    if not close_plainly(id) then owe_dependents(id, DONE_COMPLETED) end
  end
  variadic('ZREM', DEPENDENTS, closed_edges)
end
for queue, number in pairs(by_queue) do
  count(queue, ACTIVE, -number[1])
  count(queue, DONE_COMPLETED, number[2])
end
for mark, number in pairs(by_fence) do
  dropped[string.format('%.0f', struct.unpack('>i8', mark))] = number
end
for _, n in ipairs(slow) do
  local result = ARGV[FIRST + 3 * n]
  conclude(parse(ids[n], records[n]), {
    state = DONE_COMPLETED, refund = 0, result = result ~= '' and result or nil, error = '',
    lost = 0,
  })
end

-- Each goes before the one put to the front last: backwards, a batch keeps its order.
for n = others, 1, -1 do
  local at = rest + 6 * n - 6
  local held = holds(plain + n)
  local job = held and sound(ids[plain + n], records[plain + n])
  local state, refund, result, moment, time, gone = struct.unpack('>BBBBi8H', ARGV[at + 2])
  if job and LINE[job.queue] and (FINISHED[state] or is_usable(job.queue)) then
    conclude(job, {
      state = state, refund = refund, moment = moment, time = time,
      result = result == 1 and ARGV[at + 3] or nil, error = ARGV[at + 4],
      awaits = ARGV[at + 5] ~= '' and ARGV[at + 5] or nil, lost = gone,
    })
  elseif held then
    -- Damaged, or its queue is: it is rescued when its lease is over, as often as it takes.
    lost[#lost + 1] = plain + n - 1
  end
end
write_index()
return { lost, owed, write_endings() }
