-- Gives jobs that wait another priority.
--
-- KEYS  those of the shard, then line and later set of each queue
-- ARGV  call, queues, then the priority, and ids
-- Returns the ids that have it now, and that nothing is owed.
-- include: keys call queues codes record ids index traits lanes groups

-- A call is repeated within so many milliseconds, or not at all.
-- define: REPEATED_WITHIN 60000
local priority = tonumber(ARGV[FIRST])
local changed = {}
local lanes, groups

-- A pending job goes to the end of the line of its new priority. Its slot, if it has one, it keeps.
local function go_to_end(job)
  if traits_of(job)[GROUP] then
    groups = groups or open_groups()
    groups.remove(job, job.place)
    job.place = groups.place(job)
    groups.add(job)
  else
    job.place = next_place()
  end
  redis.call('ZADD', LINE[job.queue], score(job), job.id)
end

-- One that waits for a slot of its lane has its turn by its priority, and keeps its place.
local function change_turn(job)
  local turn = traits_of(job)[TURN] or ''
  if turn == '' then return end
  lanes = lanes or open_lanes()
  local lane = lanes.of(job)
  redis.call('ZREM', ENTERED, lanes.member(lane, turn, job.place, job.id))
  job.traits[TURN] = lanes.turn(lane, job)
  redis.call('ZADD', ENTERED, 0, lanes.member(lane, job.traits[TURN], job.place, job.id))
  save_traits(job)
end

for at = FIRST + 1, #ARGV do
  local id, record = ARGV[at], redis.call('HGET', JOBS, ARGV[at])
  local job = sound(id, record)
  if job and job.state <= RETRY and job.state ~= ACTIVE and is_usable(job.queue) then
    if job.priority ~= priority then
      job.priority = priority
      if job.state == PENDING then
        go_to_end(job)
      else
        change_turn(job)
      end
      save(job)
    end
    changed[#changed + 1] = id
  elseif AGAIN and job and job.state == ACTIVE and job.priority == priority
    and NOW - job.started < REPEATED_WITHIN then
    changed[#changed + 1] = id -- by the first sending, since when it was claimed
  end
end
return { changed, {}, {} }
