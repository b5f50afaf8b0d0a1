-- Those of these workers that are on the list. Arguments: ids (JSON), now. Returns: id, expires_at.
SELECT id, expires_at FROM windlass_workers
WHERE id = ANY (ARRAY(SELECT json_array_elements_text(:ids::json) COLLATE "C"))
  AND expires_at > :now
