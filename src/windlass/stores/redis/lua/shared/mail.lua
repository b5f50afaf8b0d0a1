-- Word that came for a job, and what it is parked for, in MAIL by id: 1 + length of the name that it
-- awaits H, 0 if it does not; that name; then of each word: length of its name H, its own I4, both.

-- The name that a job awaits, or nil; and all words.
local function mail_of(job)
  local raw = has(job.more, HAS_MAIL) > 0 and redis.call('HGET', MAIL, job.id)
  if not raw or #raw < 2 then return nil, '' end
  local length = struct.unpack('>H', raw)
  if length == 0 then return nil, string.sub(raw, 3) end
  -- Damaged: whoever waits for it waits until its time is over, and no longer.
  if length + 1 > #raw then return nil, '' end
  return string.sub(raw, 3, length + 1), string.sub(raw, length + 2)
end

-- The record is saved afterwards, for it says whether there is any.
local function save_mail(job, awaits, words)
  if awaits or words ~= '' then
    local head = awaits and struct.pack('>H', #awaits + 1) .. awaits or '\0\0'
    redis.call('HSET', MAIL, job.id, head .. words)
    job.more = with(job.more, HAS_MAIL)
  elseif has(job.more, HAS_MAIL) > 0 then
    redis.call('HDEL', MAIL, job.id)
    job.more = job.more - HAS_MAIL
  end
end

-- A word by its name.
local function word_in(words, name)
  local at = 1
  while at + 5 <= #words do
    local length, size, start = struct.unpack('>HI4', words, at)
    at = start + length + size
    if string.sub(words, start, start + length - 1) == name then
      return string.sub(words, start + length, at - 1)
    end
  end
end

-- A job that is called off is not parked any more.
local function unpark(job)
  local awaits, words = mail_of(job)
  if awaits then save_mail(job, nil, words) end
end
