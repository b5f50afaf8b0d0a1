-- Makes a lane known. Arguments by position: queue, name, limits, state, idle_at.
INSERT INTO windlass_lanes (queue, name, limits, state, idle_at)
VALUES /*each*/(?, ?, ?, ?, ?)/*each*/
ON DUPLICATE KEY UPDATE name = windlass_lanes.name
