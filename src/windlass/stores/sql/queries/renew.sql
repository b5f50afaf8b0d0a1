-- Extends a lease. Arguments by position: lease_until, id.
UPDATE windlass_jobs SET lease_until = ? WHERE id = ?
