-- Adds the result of a job just completed. Arguments by position: result, finished_at, number.
UPDATE windlass_finished SET result = ?
WHERE state = 'completed' AND finished_at = ? AND number = ?
