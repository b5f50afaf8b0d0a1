-- Lets leases run out now. Arguments: ids (JSON), now.
UPDATE windlass_jobs SET lease_until = :now WHERE id IN (SELECT value FROM json_each(:ids))
