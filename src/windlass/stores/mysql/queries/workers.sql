-- Workers that were heard of in time, by id, each with the order that stands for it. Arguments: now.
-- Returns: id, info, seen_at, said.
SELECT CONVERT(w.id USING utf8mb4), w.info, w.seen_at, o.said
FROM windlass_workers AS w
LEFT JOIN windlass_orders AS o ON o.worker = w.id AND o.expires_at > :now
WHERE w.expires_at > :now
ORDER BY w.id
