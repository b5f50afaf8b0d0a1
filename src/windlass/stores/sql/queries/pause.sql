-- Pauses a queue; twice is once. Arguments: queue.
INSERT INTO windlass_paused (queue) VALUES (:queue) ON CONFLICT (queue) DO NOTHING
