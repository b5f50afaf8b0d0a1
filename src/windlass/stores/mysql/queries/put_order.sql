-- Leaves an order for a worker, in the place of the one before.
-- Arguments by position: worker, said, expires_at.
INSERT INTO windlass_orders (worker, said, expires_at) VALUES (?1, ?2, ?3)
ON DUPLICATE KEY UPDATE said = ?2, expires_at = ?3
