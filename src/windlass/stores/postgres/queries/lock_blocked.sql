-- Blocked jobs, held against other writers. Arguments: ids (JSON).
-- Returns: the lock columns, due, place.
SELECT /*lock_columns*/, due, place FROM windlass_jobs
WHERE id = ANY (ARRAY(SELECT json_array_elements_text(:ids::json) COLLATE "C")) AND state = 'blocked'
ORDER BY id
FOR UPDATE
