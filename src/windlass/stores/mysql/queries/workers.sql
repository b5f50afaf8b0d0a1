-- Workers that were heard of in time, by id. Arguments: now. Returns: id, info, seen_at.
SELECT CONVERT(id USING utf8mb4), info, seen_at FROM windlass_workers
WHERE expires_at > :now ORDER BY id
