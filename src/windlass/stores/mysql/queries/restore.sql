-- Takes in a job of another store, unless a live one has its id or its unique key: that is marked.
-- Arguments by position: as in sql/restore.py; /*each*/ marks what is repeated per row.
INSERT INTO windlass_jobs
  (id, spec, queue, state, `rank`, place, created_at, due, keep, unique_key, attempt, fence, worker,
   started_at, error, progress, checkpoint, awaits, mail, lost)
VALUES /*each*/(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)/*each*/
ON DUPLICATE KEY UPDATE asked = asked + 1;
UPDATE windlass_jobs SET awaited = 1
WHERE id IN (/*each*/?1/*each*/)
  AND EXISTS (SELECT 1 FROM windlass_edges AS e WHERE e.parent = windlass_jobs.id)
