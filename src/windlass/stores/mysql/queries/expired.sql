-- Active jobs whose lease ran out and that nobody else rescues, longest ago first.
-- Arguments: now, limit. Returns: id.
-- Looks at all that are active, in an index: these are as many as workers hold, and never a
-- backlog. An index by lease would cost every job three writes for a question of the upkeep. What
-- others are rescuing is among those found, so that more are found than asked for.
SELECT CONVERT(jobs.id USING utf8mb4)
FROM (
  SELECT number FROM windlass_jobs FORCE INDEX (windlass_jobs_order)
  WHERE state = 'active' AND step <= :now
  ORDER BY step
  LIMIT 10000
) AS late
STRAIGHT_JOIN windlass_jobs AS jobs FORCE INDEX (PRIMARY) ON jobs.number = late.number
WHERE jobs.state = 'active' AND jobs.lease_until <= :now
LIMIT :limit
FOR UPDATE SKIP LOCKED
