-- Closes the edges of parents that have ended, up to one of them each.
-- Arguments by position, as arrays: parent, serial (the last one).
DELETE FROM windlass_edges AS e USING unnest(?::text[], ?::bigint[]) AS g (parent, serial)
WHERE e.parent = g.parent AND e.serial <= g.serial
