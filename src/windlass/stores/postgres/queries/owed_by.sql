-- What is owed to the dependents of these jobs, but for what another transaction is at.
-- Arguments: ids (JSON). Returns: note, parent, until, why.
SELECT note, parent, until, why FROM windlass_owed
WHERE parent = ANY (ARRAY(SELECT json_array_elements_text(:ids::json) COLLATE "C"))
FOR UPDATE SKIP LOCKED
