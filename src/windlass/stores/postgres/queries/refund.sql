-- Takes back attempts that do not count. Arguments by position, as an array: id.
UPDATE windlass_jobs SET attempt = attempt - 1 WHERE id IN (SELECT unnest(?::text[]))
