-- Completes those of a claim's jobs that are still held and are to be kept.
-- Arguments by position: now, now, refs (JSON), fence. Counted by the caller.
-- The + keeps SQLite from going by the index of fences: the numbers are the shorter way.
UPDATE windlass_jobs
SET state = 'completed', finished_at = ?, expires_at = ? + keep, lease_until = NULL,
    checkpoint = NULL, awaits = NULL, mail = NULL, lost = 0
WHERE number IN (SELECT value FROM json_each(?)) AND state = 'active' AND +fence = ? AND keep > 0
