-- Lets jobs be in lanes or groups. NULL leaves the state or the place as it is.
-- Arguments by position, as arrays: lane, grp, state, slot (1 has one, 0 waits for one, or NULL),
-- place, id. What nothing is new of is not written.
UPDATE windlass_jobs AS j
SET lane = g.lane, grp = g.grp, state = coalesce(g.state, j.state), slot = g.slot,
    place = coalesce(g.place + /*band*/, j.place)
FROM unnest(?::text[], ?::text[], ?::text[], ?::smallint[], ?::bigint[], ?::text[])
  AS g (lane, grp, state, slot, place, id)
WHERE j.id = g.id AND (
  (j.lane, j.grp, j.slot) IS DISTINCT FROM (g.lane, g.grp, g.slot)
  OR g.state IS NOT NULL OR g.place IS NOT NULL
)
