-- Pauses a schedule or lets it go on; one that was paused goes on from a moment.
-- Arguments by position: that moment twice (0 to pause), paused (1 or 0), name.
UPDATE windlass_schedules
SET last = CASE WHEN paused = 1 AND last < ? THEN ? ELSE last END, paused = ?
WHERE name = ?
