-- Enters a worker into the list. Arguments: id, info (JSON), now, expires_at.
INSERT INTO windlass_workers (id, info, seen_at, expires_at)
VALUES (:id, :info, :now, :expires_at)
ON CONFLICT (id) DO UPDATE
SET info = excluded.info, seen_at = excluded.seen_at, expires_at = excluded.expires_at
