-- Those of these schedules that there are, held against schedulers.
-- Arguments: ids (JSON, names). Returns: name.
SELECT name FROM windlass_schedules
WHERE name = ANY (ARRAY(SELECT json_array_elements_text(:ids::json) COLLATE "C"))
ORDER BY name
FOR UPDATE
