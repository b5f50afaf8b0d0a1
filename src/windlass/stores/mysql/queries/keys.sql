-- All keys of the API by id. Returns: id, record.
SELECT CONVERT(id USING utf8mb4), record FROM windlass_keys ORDER BY id
