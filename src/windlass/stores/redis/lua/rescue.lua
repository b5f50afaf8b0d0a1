-- Takes over jobs whose lease ran out, longest ago first.
--
-- KEYS  those of the shard
-- ARGV  call, queues (none), then the most jobs, the lease in milliseconds, the worker,
--       the fence to go beyond
-- Returns time, ids, and the records with their new owner.
-- include: keys call queues variadic codes record ids index traits rate lanes groups turns standing

local limit, lease, worker = ARGV[FIRST], tonumber(ARGV[FIRST + 1]), ARGV[FIRST + 2]
local ids = redis.call('ZRANGEBYSCORE', LEASES, '-inf', NOW, 'LIMIT', 0, limit)
if #ids == 0 then return { NOW, {}, {} } end

ALLOW_WHEN_FULL
local fence = next_fence(ARGV[FIRST + 3])
local until_then = string.format('%.0f', NOW + lease)
local records, fields, leases, batch = {}, {}, {}, {}
for n, record in ipairs(many(JOBS, ids)) do
  local found = whole(record, ACTIVE, '')
  if found ~= record then found = mended(ids[n], found) end
  local job = parse(ids[n], found)
  if job.fence then
    local former = string.format('%.0f', job.fence)
    dropped[former] = (dropped[former] or 0) + 1
  else
    -- Damaged: of which queue and claim it was is not known any more, so it is taken for one of
    -- the default queue. Its count must be there to be taken off when the job ends.
    if redis.call('HEXISTS', COUNTS, ACTIVE .. '') == 0 then count('', ACTIVE, 1) end
    job.started = NOW
  end
  job.fence, job.worker = fence, worker
  records[n] = build(job)
  fields[2 * n - 1], fields[2 * n] = job.id, records[n]
  leases[2 * n - 1], leases[2 * n] = until_then, job.id
  batch[2 * n - 1], batch[2 * n] = struct.pack('>H', #job.id), job.id
end
variadic('HSET', JOBS, fields)
variadic('ZADD', LEASES, leases)
redis.call('ZADD', CLAIMS, fence, table.concat(batch))
redis.call('HSET', HELD, fence, #ids)
write_index()
return { NOW, ids, records }
