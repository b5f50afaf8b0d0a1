-- Returns: the names of paused queues.
SELECT queue FROM windlass_paused
