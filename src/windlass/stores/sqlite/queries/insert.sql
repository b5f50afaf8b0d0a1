-- Accepts a job, unless its id exists or a live job holds its unique key.
-- Arguments by position: as `to_insert` in rows.py; /*each*/ marks what is repeated per row.
INSERT INTO windlass_jobs
  (id, spec, queue, state, rank, place, created_at, due, keep, unique_key)
VALUES /*each*/(?, ?, ?, ?, ?, ?, ?, ?, ?, ?)/*each*/
ON CONFLICT DO NOTHING
