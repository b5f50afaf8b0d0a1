-- Takes in a job of another store, unless its id exists or a live job holds its unique key.
-- Arguments by position: as `to_restore` in rows.py; /*each*/ marks what is repeated per row.
INSERT INTO windlass_jobs
  (id, spec, queue, state, rank, place, created_at, due, keep, unique_key, attempt, fence, worker,
   started_at, finished_at, expires_at, result, error, progress, checkpoint, awaits, mail, lost)
VALUES /*each*/(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)/*each*/
ON CONFLICT DO NOTHING
