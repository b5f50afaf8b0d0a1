-- Those of these keys of the API that there are, held against who drops them as well.
-- Arguments: ids (JSON). Returns: id.
SELECT id FROM windlass_keys
WHERE id = ANY (ARRAY(SELECT json_array_elements_text(:ids::json) COLLATE "C"))
ORDER BY id
FOR UPDATE
