-- Leaves an order for a worker, in the place of the one before.
-- Arguments by position: worker, said, expires_at.
INSERT INTO windlass_orders (worker, said, expires_at) VALUES (?, ?, ?)
ON CONFLICT (worker) DO UPDATE SET said = excluded.said, expires_at = excluded.expires_at
