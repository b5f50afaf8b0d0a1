-- Completes those of a claim's jobs that are still held and are not to be kept.
-- Arguments by position: refs (JSON), fence. Counted by the caller.
-- The + keeps SQLite from going by the index of fences: the numbers are the shorter way.
DELETE FROM windlass_jobs
WHERE number IN (SELECT value FROM json_each(?)) AND state = 'active' AND +fence = ? AND keep = 0
