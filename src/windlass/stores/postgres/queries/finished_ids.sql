-- Which of these ids are of finished jobs. Arguments: ids (JSON). Returns: id.
SELECT id FROM windlass_finished
WHERE id = ANY (ARRAY(SELECT json_array_elements_text(:ids::json) COLLATE "C"))
