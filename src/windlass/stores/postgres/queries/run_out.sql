-- Lets leases run out now. Arguments: ids (JSON), now. The rows are held already.
UPDATE windlass_jobs SET lease_until = :now
WHERE id = ANY (ARRAY(SELECT json_array_elements_text(:ids::json) COLLATE "C"))
