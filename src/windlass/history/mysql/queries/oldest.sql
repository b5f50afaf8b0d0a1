-- The jobs that ended first. Arguments: before, limit. Returns: id, ended_at.
SELECT CONVERT(id USING utf8mb4), ended_at FROM windlass_history WHERE ended_at < :before
ORDER BY ended_at, windlass_history.id LIMIT :limit
