-- Those of these jobs that wait for others. Arguments: ids (JSON). Returns: id.
SELECT value FROM json_each(:ids)
WHERE EXISTS (SELECT 1 FROM windlass_edges WHERE child = value)
