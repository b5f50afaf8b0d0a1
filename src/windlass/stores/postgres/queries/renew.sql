-- Extends the leases that are still held, in one statement; not those that were extended so lately
-- that they have nearly all of it left: each is a write.
-- Arguments: ids, fences, lately (arrays; whether it was extended by the last call), lease, now (NULL: the server's clock).
-- Returns: id, and whether another transaction has the job though its lease has run out.
-- What another transaction has is left as it is: see sql/renewal.py.
-- The CASE keeps the planner from going by an index of active jobs: their number is not known.
WITH moment AS MATERIALIZED (
  SELECT coalesce(:now::bigint, floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint) AS now
), given AS MATERIALIZED (
  SELECT id, fence, lately
  FROM unnest(:ids::text[], :fences::bigint[], :lately::boolean[]) AS g (id, fence, lately)
), free AS MATERIALIZED (
  SELECT j.id FROM windlass_jobs AS j, given AS g, moment AS m
  WHERE j.id = g.id AND CASE j.state WHEN 'active' THEN j.fence END = g.fence
    AND NOT (g.lately AND j.lease_until BETWEEN m.now + :lease::bigint - :lease::bigint / 4
                                            AND m.now + :lease::bigint)
  FOR UPDATE OF j SKIP LOCKED
), renewed AS (
  UPDATE windlass_jobs AS j
  SET lease_until = m.now + :lease::bigint
  FROM free AS f, moment AS m
  WHERE j.id = f.id
)
SELECT j.id, j.lease_until <= m.now AND NOT EXISTS (SELECT FROM free AS f WHERE f.id = j.id)
FROM windlass_jobs AS j, given AS g, moment AS m
WHERE j.id = g.id AND CASE j.state WHEN 'active' THEN j.fence END = g.fence
