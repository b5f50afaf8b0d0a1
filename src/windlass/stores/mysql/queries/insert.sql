-- Accepts a job, unless a live one has its id or its unique key: that one is marked, so that the
-- number of rows changed tells, whatever the connection counts as a change.
-- Arguments by position: as `to_insert` in rows.py; /*each*/ marks what is repeated per row.
INSERT INTO windlass_jobs
  (id, spec, queue, state, `rank`, place, created_at, due, keep, unique_key)
VALUES /*each*/(?, ?, ?, ?, ?, ?, ?, ?, ?, ?)/*each*/
ON DUPLICATE KEY UPDATE asked = asked + 1
