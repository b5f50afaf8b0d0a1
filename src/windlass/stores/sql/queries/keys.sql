-- All keys of the API by id. Returns: id, record.
SELECT id, record FROM windlass_keys ORDER BY id
