-- Pauses a queue; twice is once. Arguments: queue.
INSERT INTO windlass_paused (queue) VALUES (:queue) ON DUPLICATE KEY UPDATE queue = :queue
