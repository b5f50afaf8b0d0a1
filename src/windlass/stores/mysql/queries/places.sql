-- Where live jobs stand in line. Arguments: ids. Returns: id, place.
-- By its index however few rows there are: a scan would wait for those of open transactions.
SELECT CONVERT(id USING utf8mb4), place FROM windlass_jobs FORCE INDEX (windlass_jobs_id)
WHERE id IN :ids FOR UPDATE
