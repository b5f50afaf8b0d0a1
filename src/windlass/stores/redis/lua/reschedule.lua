-- Gives waiting jobs another time.
--
-- KEYS  those of the shard, then line and later set of each queue
-- ARGV  call, queues, then the delay in milliseconds, the moment or "", and ids
-- Returns the ids whose time was changed, and that nothing is owed.
-- include: keys call queues variadic codes record index

local due = tonumber(ARGV[FIRST + 1]) or NOW + tonumber(ARGV[FIRST])
local changed = {}
for at = FIRST + 2, #ARGV do
  local id, record = ARGV[at], redis.call('HGET', JOBS, ARGV[at])
  local job = record and parse(id, record)
  if job and (job.state == PENDING or job.state == SCHEDULED or job.state == RETRY)
    and LINE[job.queue] then
    unindex(job)
    job.due = due
    if due <= NOW then
      job.state, job.place = PENDING, next_place()
    elseif job.state == PENDING then
      job.state = SCHEDULED
    end
    index(job)
    save(job)
    changed[#changed + 1] = id
  end
end
write_index()
return { changed, {}, {} }
