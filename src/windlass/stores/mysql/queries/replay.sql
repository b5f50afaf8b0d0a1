-- Lets a finished job wait again; NULL leaves its place. Arguments by position: state, due (which is
-- now), place, id.
-- Who takes a window comes in with its key, so that the insert has waited for them; if there is one
-- now, the last statement fails as one that finds a key taken, and all is begun anew.
INSERT INTO windlass_jobs
  (id, queue, state, `rank`, place, due, fence, keep, created_at, started_at, worker, unique_key,
   spec, error, progress, checkpoint, mail)
SELECT id, queue, ?1, `rank`, COALESCE(?3, place), ?2, fence, keep, created_at, started_at, worker,
  unique_key, spec, error, progress, checkpoint, mail
FROM windlass_finished WHERE id = ?4;
DELETE FROM windlass_finished WHERE id = ?4;
INSERT INTO windlass_windows (unique_key, job, until)
SELECT windows.unique_key, windows.job, windows.until
FROM windlass_jobs AS jobs STRAIGHT_JOIN windlass_windows AS windows
WHERE jobs.id = ?4 AND windows.unique_key = jobs.unique_key AND windows.until > ?2
