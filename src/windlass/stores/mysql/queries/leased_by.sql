-- Active jobs that a worker has a lease of, but for those that another transaction has.
-- Arguments: worker, now, limit. Returns: id.
-- Looks at all that are active, in an index: these are as many as workers hold. The inner query
-- holds nothing, so that no lease of another worker waits for this.
SELECT CONVERT(jobs.id USING utf8mb4)
FROM (
  SELECT number FROM windlass_jobs FORCE INDEX (windlass_jobs_order)
  WHERE state = 'active' AND step > :now AND worker = :worker
  LIMIT :limit
) AS mine
STRAIGHT_JOIN windlass_jobs AS jobs FORCE INDEX (PRIMARY) ON jobs.number = mine.number
WHERE jobs.state = 'active' AND jobs.lease_until > :now AND jobs.worker = :worker
FOR UPDATE SKIP LOCKED
