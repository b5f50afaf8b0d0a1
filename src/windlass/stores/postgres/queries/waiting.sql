-- Those of these jobs that wait for others. Arguments: ids (JSON). Returns: id.
SELECT w.id FROM json_array_elements_text(:ids::json) AS w (id)
WHERE EXISTS (SELECT FROM windlass_edges AS e WHERE e.child = w.id COLLATE "C")
