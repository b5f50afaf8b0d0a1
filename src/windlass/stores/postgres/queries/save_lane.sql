-- Keeps what a step made of lanes.
-- Arguments by position, as arrays: limits, state, idle_at, queue, name.
UPDATE windlass_lanes AS l SET limits = g.limits, state = g.state, idle_at = g.idle_at
FROM unnest(?::bytea[], ?::bytea[], ?::bigint[], ?::text[], ?::text[])
  AS g (limits, state, idle_at, queue, name)
WHERE l.queue = g.queue AND l.name = g.name
