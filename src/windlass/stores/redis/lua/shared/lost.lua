-- How many workers were lost with a job: the last entry of its error, which is a map (`record.py`
-- reads it). A job has none without an error, and of a completed one it does not count.
-- define: LOST '\164lost\205'
local function with_lost(error, lost)
  local number = struct.pack('>H', lost)
  if string.sub(error, -8, -3) == LOST then return string.sub(error, 1, -3) .. number end
  local first = string.byte(error)
  -- Of no other kind are maps as small as this one; what is none is damaged.
  if lost == 0 or not first or first < 128 or first > 142 then return error end
  return string.char(first + 1) .. string.sub(error, 2) .. LOST .. number
end

local function set_lost(job, lost)
  if has(job.flags, HAS_ERROR) == 0 then return end
  local error = redis.call('HGET', ERRORS, job.id)
  local counted = error and with_lost(error, lost)
  if counted ~= error then redis.call('HSET', ERRORS, job.id, counted) end
end
