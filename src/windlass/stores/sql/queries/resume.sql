-- Resumes a queue. Arguments: queue.
DELETE FROM windlass_paused WHERE queue = :queue
