-- Lets leases run out now. Arguments: ids, now.
-- By its index however few rows there are: a scan would wait for those of open transactions.
UPDATE windlass_jobs FORCE INDEX (windlass_jobs_id) SET lease_until = :now WHERE id IN :ids
