-- Lets a finished job wait again; NULL leaves its place. Arguments by position: state, due, place,
-- id.
INSERT INTO windlass_jobs
  (id, queue, state, `rank`, place, due, fence, keep, created_at, started_at, worker, unique_key,
   spec, error, progress, checkpoint)
SELECT id, queue, ?1, `rank`, COALESCE(?3, place), ?2, fence, keep, created_at, started_at, worker,
  unique_key, spec, error, progress, checkpoint
FROM windlass_finished WHERE id = ?4;
DELETE FROM windlass_finished WHERE id = ?4
