-- Takes the unique keys off live jobs. Arguments by position, as an array: id.
UPDATE windlass_jobs SET unique_key = NULL
WHERE id IN (SELECT unnest(?::text[])) AND unique_key IS NOT NULL
