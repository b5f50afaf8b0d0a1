-- Hands the next pending jobs to a worker, in one statement; none if some are due to become
-- pending first, or if one of them is of a lane, which may count it.
-- Arguments: queues, mosts (arrays: in order of preference, the most that each may give), limit,
-- lease, worker, most_bytes, look (whether to look for due jobs), alone (whether
-- this is all, and not for jobs of lanes), now (NULL: the server's clock); and where that is not
-- all, of the lanes that jobs may be of: lane_queues, lane_names (arrays).
-- Returns: the claim columns with the attempts before this one, then queue, fence, now,
-- whether jobs are due, whether some are of lanes, and whether they are too large: then nothing is
-- given, and the claim is made again by a statement that counts (see names.py); at last the place,
-- and how many pages of the line were read. At least one row; without a job its id is NULL.
-- A fence is at least the server's clock in milliseconds times 1024, so that a copy of the database
-- that is put back repeats none; and above the last one of each job, however the clock goes.
-- The fence is taken once the rows are locked: one taken before could be below a fence that
-- another claim gave to the same job in between.
WITH moment AS MATERIALIZED (
  SELECT coalesce(:now::bigint, floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint) AS now
), asked AS MATERIALIZED (
  SELECT queue, most, turn,
         pg_stat_get_xact_blocks_fetched('windlass_jobs_ready'::regclass) AS pages
  FROM unnest(:queues::text[], :mosts::bigint[]) WITH ORDINALITY AS a (queue, most, turn)
), overdue AS MATERIALIZED (
  SELECT :look::boolean AND EXISTS (
    SELECT FROM asked AS a, moment AS m
    WHERE EXISTS (
      SELECT FROM windlass_jobs AS j
      WHERE j.state = 'scheduled' AND j.queue = a.queue AND j.due <= m.now
    ) OR EXISTS (
      SELECT FROM windlass_jobs AS j
      WHERE j.state = 'retry' AND j.queue = a.queue AND j.due <= m.now
    )
  ) AS due
), picked AS MATERIALIZED (
  SELECT a.turn, j.id, j.lane, j.fence, j.size
  FROM asked AS a CROSS JOIN LATERAL (
    SELECT id, lane, fence, octet_length(spec) AS size FROM windlass_jobs
    WHERE state = 'pending' AND queue = a.queue
    ORDER BY rank, place
    LIMIT a.most
    FOR UPDATE SKIP LOCKED
  ) AS j
  WHERE NOT (SELECT due FROM overdue)
    AND NOT EXISTS (SELECT FROM windlass_paused AS p WHERE p.queue = a.queue)
  LIMIT :limit::bigint
), counted AS MATERIALIZED (
  SELECT count(*) AS number, max(fence) AS fence, :alone::boolean AND count(lane) > 0 AS laned,
         count(*) > 1 AND sum(size) > :most_bytes::bigint AS large,
         pg_stat_get_xact_blocks_fetched('windlass_jobs_ready'::regclass) AS pages
  FROM picked
), fenced AS MATERIALIZED (
  SELECT greatest(fence + 1, number, number % 65536
                  + floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint * 1024) AS fence
  FROM (
    SELECT nextval('windlass_fences') AS number, fence FROM counted
    WHERE number > 0 AND NOT laned AND NOT large
  ) AS n
), claimed AS (
  UPDATE windlass_jobs AS j
  SET state = 'active', attempt = j.attempt + 1, fence = f.fence, started_at = m.now,
      lease_until = m.now + :lease::bigint, worker = :worker::text, progress = NULL,
      unique_key = CASE WHEN NOT j.brief THEN j.unique_key END
  FROM picked AS p, fenced AS f, moment AS m
  WHERE j.id = p.id
  RETURNING p.turn, j.id, j.spec, j.rank, j.place, j.created_at, j.due, j.attempt, j.unique_key,
            j.error, j.checkpoint, j.awaits, j.mail, j.lost, j.queue, j.fence, j.started_at,
            j.grp
), tallied AS (
  INSERT INTO windlass_deltas (queue, state, number)
  SELECT queue, state, sign * number
  FROM (SELECT queue, count(*) AS number FROM claimed GROUP BY queue) AS c,
       (VALUES ('pending', -1), ('active', 1)) AS s (state, sign)
), turned AS (
  INSERT INTO windlass_clocks AS t (queue, place)
  SELECT queue, max(place) FROM claimed WHERE grp IS NOT NULL GROUP BY queue ORDER BY queue
  ON CONFLICT (queue) DO UPDATE SET place = greatest(t.place, excluded.place)
)
SELECT 0, c.id, c.spec, c.rank, c.created_at, c.due, c.attempt - 1, c.unique_key, c.error,
       c.checkpoint, c.awaits, c.mail, c.lost, c.queue, c.fence, c.started_at, o.due, n.laned,
       n.large, c.place, n.pages - (SELECT pages FROM asked LIMIT 1)
FROM overdue AS o CROSS JOIN counted AS n LEFT JOIN claimed AS c ON true
ORDER BY c.turn, c.rank, c.place
