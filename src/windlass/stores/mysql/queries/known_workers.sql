-- Those of these workers that are on the list. Arguments: ids, now. Returns: id, expires_at.
SELECT CONVERT(id USING utf8mb4), expires_at FROM windlass_workers
WHERE id IN :ids AND expires_at > :now
