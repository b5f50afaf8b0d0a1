-- Writes completed jobs down as finished. Arguments: refs, now. They are locked, and are still
-- among the live ones afterwards.
INSERT INTO windlass_finished
  (state, finished_at, number, id, queue, `rank`, place, due, attempt, fence, keep, created_at,
   started_at, expires_at, worker, unique_key, spec, error, progress)
SELECT 'completed', :now, number, id, queue, `rank`, place, due, attempt, fence, keep, created_at,
  started_at, :now + keep, worker, unique_key, spec, error, progress
FROM windlass_jobs FORCE INDEX (PRIMARY)
WHERE number IN :refs
