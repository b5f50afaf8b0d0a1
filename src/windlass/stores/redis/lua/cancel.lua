-- Calls live jobs off.
--
-- KEYS  those of the shard, then line and later set of each queue
-- ARGV  call, queues, then ids
-- Returns the ids that were cancelled, and what is owed to other shards and to dependents (see
-- finish).
-- include: keys call queues variadic codes record ids waits index traits rate lanes groups turns standing unique sides mail note endings

local cancelled = {}
for at = FIRST, #ARGV do
  local id, record = ARGV[at], redis.call('HGET', JOBS, ARGV[at])
  local job = sound(id, record)
  if job and job.state <= RETRY and LINE[job.queue] then
    local ran = job.state == ACTIVE
    unindex(job)
    job.state, job.finished = DONE_CANCELLED, NOW
    end_for_dependents(job, DONE_CANCELLED)
    unpark(job)
    note(id, build(job), ran)
    settle_finished(job)
    cancelled[#cancelled + 1] = id
  elseif AGAIN and (not record or (job and (job.state == DONE_CANCELLED or job.state == GHOST))) then
    cancelled[#cancelled + 1] = id -- by the first sending, whose answer was lost
  end
end
write_index()
return { cancelled, owed, write_endings() }
