-- Removes jobs in one of the given states and all trace of them.
--
-- KEYS  those of the shard, then line and later set of each queue, then the attempts of each job
-- ARGV  call, queues, then the states as one text of digits, "1" if the jobs were moved to another
--       store, and ids
-- Returns the ids that were removed, and what is owed to other shards and to dependents (see
-- finish); then the ids of jobs whose record is damaged, so that nobody knows where they stand (see
-- discard).
-- include: keys call queues variadic codes record ids waits index traits rate lanes groups turns standing unique sides endings blocking

local states, moved, deleted = ARGV[FIRST], ARGV[FIRST + 1] == '1', {}
local damaged = {}
local before = FIXED_KEYS + 2 * QUEUES - FIRST - 1 -- from an id's number to that of its attempts' key
for at = FIRST + 2, #ARGV do
  local id, record = ARGV[at], redis.call('HGET', JOBS, ARGV[at])
  local job = sound(id, record)
  if job and string.find(states, job.state, 1, true) and LINE[job.queue] then
    unindex(job)
    if not FINISHED[job.state] then
      free_key(job)
      if not moved then end_for_dependents(job, WAS_DELETED) end
    end
    if has(job.more, HAS_TRAITS) > 0 then turns().leave(job) end
    free_window(job)
    remove(job)
    -- Its dependents wait on, until it comes back or they are moved as well.
    if has(job.more, HAS_DEPENDENTS) > 0 then
      redis.call('HSET', JOBS, id, ghost())
      drop_ghost(id)
    end
    redis.call('DEL', KEYS[before + at])
    deleted[#deleted + 1] = id
  elseif record and not job then
    damaged[#damaged + 1] = id
  elseif AGAIN and (not record or job.state == GHOST) then
    deleted[#deleted + 1] = id -- by the first sending, whose answer was lost
  end
end
write_index()
return { deleted, owed, write_endings(), damaged }
