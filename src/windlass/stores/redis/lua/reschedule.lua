-- Gives waiting jobs another time.
--
-- KEYS  those of the shard, then line and later set of each queue
-- ARGV  call, queues, then the delay in milliseconds, the moment or "", and ids
-- Returns the ids whose time was changed, and that nothing is owed.
-- include: keys call queues variadic codes record ids index traits rate lanes groups turns standing

-- A call is repeated within so many milliseconds, or not at all.
-- define: REPEATED_WITHIN 60000
local due = tonumber(ARGV[FIRST + 1]) or NOW + tonumber(ARGV[FIRST])
local changed = {}
for at = FIRST + 2, #ARGV do
  local id, record = ARGV[at], redis.call('HGET', JOBS, ARGV[at])
  local job = sound(id, record)
  if job and (job.state == PENDING or job.state == SCHEDULED or job.state == RETRY)
    and is_usable(job.queue) then
    unindex(job)
    if job.more >= HAS_TRAITS then turns().put_off(job) end
    job.due = due
    if due <= NOW then
      job.state, job.place, job.at_end = PENDING, next_place(), true
    elseif job.state == PENDING then
      job.state = SCHEDULED
    end
    index(job)
    save(job)
    changed[#changed + 1] = id
  elseif AGAIN and job and job.state == IS_BLOCKED and job.more >= HAS_TRAITS and due <= NOW
    and (job.due == due or NOW - job.due < REPEATED_WITHIN) then
    changed[#changed + 1] = id -- by the first sending, since when it waits in its lane
  end
end
write_index()
return { changed, {}, {} }
