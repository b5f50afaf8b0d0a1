-- Returns: the names of paused queues.
SELECT CONVERT(queue USING utf8mb4) FROM windlass_paused
