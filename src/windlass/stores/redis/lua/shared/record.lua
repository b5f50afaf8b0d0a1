-- A job as one string; `record.py` reads and writes the same. Big-endian, so that what stands
-- in it can be put into members that sort:
--   created i8, place I8 (+ BIAS), state B, flags B, priority B, more flags B, attempt I4,
--   queue (length H; empty stands for the default queue)
--   then what its flags say: DUE due i8, KEEP keep i8, UNIQUE key (length H)
--   then the spec (if it is LARGE, without its payload, or empty if that is large too)
--   then RUN worker, its length H, fence i8, started i8; DONE finished i8

local function parse(id, record)
  local job = { id = id }
  local length, at
  job.created, job.place, job.state, job.flags, job.priority, job.more, job.attempt, length, at =
    struct.unpack('>i8I8BBBBI4H', record)
  job.place = job.place - BIAS
  job.queue = string.sub(record, at, at + length - 1)
  at = at + length
  job.due, job.keep = job.created, DEFAULT_KEEP
  if has(job.flags, HAS_DUE) > 0 then job.due, at = struct.unpack('>i8', record, at) end
  if has(job.flags, HAS_KEEP) > 0 then job.keep, at = struct.unpack('>i8', record, at) end
  if has(job.flags, HAS_UNIQUE) > 0 then
    length, at = struct.unpack('>H', record, at)
    job.unique = string.sub(record, at, at + length - 1)
    at = at + length
  end
  local last = #record
  if has(job.flags, HAS_DONE) > 0 then
    job.finished = struct.unpack('>i8', record, last - 7)
    last = last - 8
  end
  if has(job.flags, HAS_RUN) > 0 then
    length, job.fence, job.started = struct.unpack('>Hi8i8', record, last - 17)
    last = last - 18 - length
    job.worker = string.sub(record, last + 1, last + length)
  end
  job.spec = string.sub(record, at, last)
  return job
end

local function build(job)
  local due, keep, unique, run, done = '', '', '', '', ''
  local flags = has(job.flags, HAS_LARGE + HAS_RESULT + HAS_ERROR)
  if job.due ~= job.created then
    flags, due = with(flags, HAS_DUE), struct.pack('>i8', job.due)
  end
  if job.keep ~= DEFAULT_KEEP then
    flags, keep = with(flags, HAS_KEEP), struct.pack('>i8', job.keep)
  end
  if job.unique then
    flags, unique = with(flags, HAS_UNIQUE), struct.pack('>H', #job.unique) .. job.unique
  end
  if job.worker then
    flags = with(flags, HAS_RUN)
    run = job.worker .. struct.pack('>Hi8i8', #job.worker, job.fence, job.started)
  end
  if job.finished then
    flags, done = with(flags, HAS_DONE), struct.pack('>i8', job.finished)
  end
  job.flags = flags
  local head = struct.pack('>i8I8BBBBI4H', job.created, job.place + BIAS, job.state, flags,
    job.priority, job.more, job.attempt, #job.queue)
  return head .. job.queue .. due .. keep .. unique .. job.spec .. run .. done
end

-- Whether this is the record of a job in this state, with all the parts that its flags tell of.
local function is_whole(record, state)
  if not record then return false end
  local found, flags, priority, _, _, _, _, _, high, low = string.byte(record, 17, 26)
  if not low or found ~= state or priority > 100 then return false end
  local size, need = #record, 26 + 256 * high + low
  if flags == 0 then return size >= need end
  if has(flags, HAS_DUE) > 0 then need = need + 8 end
  if has(flags, HAS_KEEP) > 0 then need = need + 8 end
  if has(flags, HAS_UNIQUE) > 0 then
    if size < need + 2 then return false end
    need = need + 2 + struct.unpack('>H', record, need + 1)
  end
  local last = size
  if has(flags, HAS_DONE) > 0 then
    need, last = need + 8, last - 8
  end
  if has(flags, HAS_RUN) > 0 then
    if size < need + 18 then return false end
    need = need + 18 + struct.unpack('>H', record, last - 17)
  end
  return size >= need
end

-- The record, or if it is damaged one of the same state that has what is left of it for a spec.
-- No worker can read that: whoever gets the job lets it die with the reason. To stop here would
-- stop the jobs beside it as well.
local function whole(record, state, queue)
  if is_whole(record, state) then return record end
  local head = struct.pack('>i8I8BBBBI4H', NOW, BIAS, state, 0, DEFAULT_PRIORITY, 0, 0, #queue)
  return head .. queue .. (record or '')
end

-- The job in a record, whatever its state; nil if there is none, or it is damaged. A script that
-- stopped there would leave half of its work.
local function sound(id, record)
  local state = record and string.byte(record, 17)
  if not state or state > GHOST or not is_whole(record, state) then return nil end
  local flags = string.byte(record, 18)
  if state == ACTIVE and has(flags, HAS_RUN) == 0 then return nil end
  if state >= DONE_COMPLETED and state < GHOST and has(flags, HAS_DONE) == 0 then return nil end
  return parse(id, record)
end
