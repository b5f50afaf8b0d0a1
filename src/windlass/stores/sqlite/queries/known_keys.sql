-- Those of these keys of the API that there are. Arguments: ids (JSON). Returns: id.
SELECT id FROM windlass_keys WHERE id IN (SELECT value FROM json_each(:ids))
