-- The place of the grouped job of a queue that was handed out last, held against all who give out
-- places of groups there. Arguments: queue. Returns: place.
INSERT INTO windlass_clocks (queue, place) VALUES (:queue, 0)
ON DUPLICATE KEY UPDATE place = windlass_clocks.place;
SELECT place FROM windlass_clocks WHERE queue = :queue FOR UPDATE
