-- Makes a lane known. Arguments by position: queue, name, limits, state, idle_at.
INSERT INTO windlass_lanes (queue, name, limits, state, idle_at) VALUES (?, ?, ?, ?, ?)
ON CONFLICT (queue, name) DO NOTHING
