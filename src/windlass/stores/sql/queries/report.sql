-- Notes how far an attempt has come, if it is still held.
-- Arguments by position: progress, id, fence.
UPDATE windlass_jobs SET progress = ? WHERE id = ? AND fence = ? AND state = 'active'
