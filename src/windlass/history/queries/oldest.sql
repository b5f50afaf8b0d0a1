-- The jobs that ended first. Arguments: before, limit. Returns: id, ended_at.
SELECT id, ended_at FROM windlass_history WHERE ended_at < :before
ORDER BY ended_at, id LIMIT :limit
