-- Those of these keys of the API that there are, held against who drops them as well.
-- Arguments: ids. Returns: id.
SELECT CONVERT(id USING utf8mb4) FROM windlass_keys WHERE id IN :ids FOR UPDATE
