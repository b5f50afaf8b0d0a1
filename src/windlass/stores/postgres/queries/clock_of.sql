-- The place of the grouped job of a queue that was handed out last. Arguments: queue.
-- Nobody waits for anybody here: two who give out places at one moment may give the same.
SELECT place - /*band*/ FROM windlass_clocks WHERE queue = :queue::text
