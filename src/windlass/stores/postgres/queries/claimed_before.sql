-- Active jobs that a worker was given by claims whose answers were lost.
-- Arguments: worker, fence (the last one before them), heard (array: fences after it of claims that
-- were answered), elapsed (milliseconds since the first of them began), limit, now (NULL: the
-- server's clock). Returns: the job's columns.
SELECT /*columns*/ FROM windlass_jobs
WHERE state = 'active' AND fence > :fence AND fence <> ALL (:heard::bigint[])
  AND worker = :worker
  AND started_at >= coalesce(
    :now::bigint, floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint
  ) - :elapsed::bigint
ORDER BY rank, place
LIMIT :limit::bigint
