-- Accepts jobs, unless a live job has the id or holds the unique key, and wakes who may wait.
-- Arguments: ids, specs, queues, ranks, delays, dues, keeps, keys, briefs, blocks, turns (arrays, a
-- job's values at the same place; of queues, ranks, delays and keeps one value can stand for all;
-- turns are the order in line, NULL for that of the arrays), place (where the line begins that they
-- go to, NULL for a new one), tells (array: what is told of each queue as soon as this is committed,
-- before its name; NULL: nothing), now (NULL: the server's clock).
-- Returns one row: the place, the ids that were accepted unless it was all of them, and how many
-- were told.
-- Jobs that are due later than an idle worker looks by itself are no news.
WITH moment AS MATERIALIZED (
  SELECT coalesce(:now::bigint, floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint) AS now,
         coalesce(:place::bigint, nextval('windlass_places') << 20) AS place
), given AS (
  SELECT g.id, g.spec, coalesce(g.queue, (:queues::text[])[1]) AS queue,
         coalesce(g.rank, (:ranks::bigint[])[1]) AS rank, m.place + coalesce(g.turn, g.n) AS place, m.now,
         coalesce(g.due, m.now + coalesce(g.delay, (:delays::bigint[])[1])) AS due,
         coalesce(g.keep, (:keeps::bigint[])[1]) AS keep, g.key, g.brief, g.blocked
  FROM moment AS m, unnest(
    :ids::text[], :specs::bytea[], :queues::text[], :ranks::bigint[], :delays::bigint[],
    :dues::bigint[], :keeps::bigint[], :keys::text[], :briefs::boolean[], :blocks::boolean[],
    :turns::bigint[]
  ) WITH ORDINALITY AS g (id, spec, queue, rank, delay, due, keep, key, brief, blocked, turn, n)
), made AS (
  INSERT INTO windlass_jobs
    (id, spec, queue, state, rank, place, created_at, due, keep, unique_key, brief)
  SELECT id, spec, queue,
         CASE WHEN blocked THEN 'blocked' WHEN due > now THEN 'scheduled' ELSE 'pending' END,
         rank, place, now, due, keep, key, brief IS TRUE
  FROM given
  ON CONFLICT DO NOTHING
  RETURNING id, queue, state, due
), news AS MATERIALIZED (
  SELECT queue, state, count(*) AS number, min(due) AS due FROM made GROUP BY queue, state
), tallied AS (
  INSERT INTO windlass_deltas (queue, state, number) SELECT queue, state, number FROM news
), told AS (
  SELECT pg_notify('windlass', t.mark || n.queue)
  FROM news AS n, moment AS m, unnest(:tells::text[]) AS t (mark)
  WHERE n.state <> 'blocked' AND n.due < m.now + 5000
)
SELECT (SELECT place FROM moment),
       CASE WHEN coalesce(sum(number), 0) < cardinality(:ids::text[])
            THEN ARRAY(SELECT id FROM made) END,
       (SELECT count(*) FROM told)
FROM news
