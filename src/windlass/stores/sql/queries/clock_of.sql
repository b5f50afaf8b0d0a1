-- The place of the grouped job of a queue that was handed out last. Arguments: queue.
SELECT place FROM windlass_clocks WHERE queue = :queue
