-- Ends a job; a former error stays unless there is a new one.
-- Arguments by position: as `to_end` in rows.py.
INSERT INTO windlass_finished
  (state, finished_at, number, id, queue, `rank`, place, due, attempt, fence, keep, created_at,
   started_at, expires_at, worker, unique_key, spec, result, error, progress, checkpoint,
   mail, lost)
SELECT ?1, ?2, number, id, queue, `rank`, place, due, attempt, fence, keep, created_at,
  started_at, ?3, worker, unique_key, spec, ?5, COALESCE(?4, error), progress,
  CASE ?6 WHEN 1 THEN checkpoint END, CASE ?7 WHEN 1 THEN mail END, lost
FROM windlass_jobs WHERE id = ?8;
DELETE FROM windlass_jobs WHERE id = ?8
