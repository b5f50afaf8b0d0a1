-- Schedules a job that waits in a lane, or blocks it again.
-- Arguments by position: state, due, number.
UPDATE windlass_jobs SET state = ?, due = ? WHERE number = ?
