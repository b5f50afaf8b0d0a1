-- Gives a job that waits in a lane a slot. Arguments by position: id, number.
UPDATE windlass_jobs SET state = 'pending', slot = 1 WHERE number = ?2;
UPDATE windlass_turns SET stand = 1 WHERE id = ?1
