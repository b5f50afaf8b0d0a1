-- Makes dead or cancelled jobs pending again, with all their attempts; or one of them blocked.
--
-- KEYS  those of the shard, then line and later set of each queue
-- ARGV  call, queues, then
--       "1" if keys that other shards keep were taken for these jobs
--       how many jobs; their ids
--       if there is one and it depends on others, what comes after its id in each wait (see waits);
--       that it is to come was noted (see intend), and it comes only if the note is still there
-- Returns the ids that were replayed, and that nothing is owed.
-- include: keys call queues variadic codes record ids waits index traits rate lanes groups turns standing unique lost blocking

-- A call is repeated within so many milliseconds, or not at all.
-- define: REPEATED_WITHIN 60000
local taken, last = ARGV[FIRST] == '1', FIRST + 1 + tonumber(ARGV[FIRST + 1])
local tails = arguments(last + 1)
local replayed = {}

-- Whether the job may have its unique key again; if so, it has it.
local function has_key(job)
  if not job.unique then return true end
  if has(job.more, REMOTE_KEY) > 0 then return taken end
  if holder_of(job.unique) then return false end
  hold_key(job.unique, job.id)
  return true
end

for at = FIRST + 2, last do
  local id, record = ARGV[at], redis.call('HGET', JOBS, ARGV[at])
  local job = sound(id, record)
  if job and (job.state == DONE_DEAD or job.state == DONE_CANCELLED) and is_usable(job.queue)
    and (#tails == 0 or redis.call('HDEL', OUTBOX, 'p' .. id) == 1) and has_key(job) then
    unindex(job)
    job.due, job.attempt, job.finished = NOW, 0, nil
    set_lost(job, 0)
    if #tails > 0 then
      add_waits(job.id, tails)
      job.state = IS_BLOCKED
    else
      job.state, job.place, job.at_end = PENDING, next_place(), true
    end
    index(job)
    save(job)
    if taken then redis.call('HDEL', OUTBOX, 'r' .. id, 'u' .. id) end
    replayed[#replayed + 1] = id
  elseif AGAIN and job and (job.state == PENDING or job.state == IS_BLOCKED
    or (job.state == SCHEDULED and job.more >= HAS_TRAITS)) and job.due > job.created
    and NOW - job.due < REPEATED_WITHIN then
    replayed[#replayed + 1] = id -- by the first sending, whose answer was lost
  end
end
write_edges()
write_index()
return { replayed, {}, {} }
