-- Gives an expired lease to a rescuer. Arguments by position: fence, lease_until, worker, id.
UPDATE windlass_jobs SET fence = ?, lease_until = ?, worker = ? WHERE id = ?
