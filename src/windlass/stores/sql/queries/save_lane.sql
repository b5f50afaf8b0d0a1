-- Keeps what a step made of a lane. Arguments by position: limits, state, idle_at, queue, name.
UPDATE windlass_lanes SET limits = ?, state = ?, idle_at = ? WHERE queue = ? AND name = ?
