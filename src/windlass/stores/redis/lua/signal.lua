-- Leaves word for a live job; the first of a name stays. One that is parked for it becomes pending.
--
-- KEYS  those of the shard, then line and later set of each queue
-- ARGV  call, queues (that of the job), then its id, the name and the word
-- Returns 1 if it has this word now.
-- include: keys call queues variadic codes record ids waits index traits rate lanes groups turns standing mail

local id, name, word = ARGV[FIRST], ARGV[FIRST + 1], ARGV[FIRST + 2]
local record = redis.call('HGET', JOBS, id)
local job = sound(id, record)
if not job or job.state > RETRY or not is_usable(job.queue) then return 0 end

local awaits, words = mail_of(job)
local first = word_in(words, name)
if not first then words = words .. struct.pack('>HI4', #name, #word) .. name .. word end
if awaits == name and job.state == SCHEDULED then
  unindex(job)
  job.state, job.due, job.place, job.at_end = PENDING, NOW, next_place(), true
  save_mail(job, nil, words)
  index(job)
  save(job)
elseif not first then
  save_mail(job, awaits, words)
  save(job)
end
write_index()
return (first or word) == word and 1 or 0
