-- Enters a worker into the list. Arguments: id, info (JSON), now, expires_at.
INSERT INTO windlass_workers (id, info, seen_at, expires_at)
VALUES (:id, :info, :now, :expires_at)
ON DUPLICATE KEY UPDATE info = :info, seen_at = :now, expires_at = :expires_at
