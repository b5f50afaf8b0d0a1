-- Holds the lanes of jobs against others who settle them. Before the jobs: who settles a lane has
-- it, and wants those that wait there. Arguments: ids (JSON), patience (how long to wait for what
-- another transaction has, in this one; NULL: as the session does). Returns: id, of those in a lane.
WITH laned AS MATERIALIZED (
  SELECT id, queue, lane, slot FROM windlass_jobs
  WHERE id = ANY (ARRAY(SELECT json_array_elements_text(:ids::json) COLLATE "C"))
    AND lane IS NOT NULL AND (SELECT EXISTS (SELECT FROM windlass_lanes))
    AND (
      SELECT :patience::text IS NULL OR set_config('lock_timeout', :patience::text, true) <> ''
    )
), held AS MATERIALIZED (
  SELECT l.name FROM (SELECT DISTINCT queue, lane FROM laned ORDER BY queue, lane) AS n
  CROSS JOIN LATERAL (
    SELECT name FROM windlass_lanes WHERE queue = n.queue AND name = n.lane FOR UPDATE
  ) AS l
)
SELECT id FROM laned WHERE slot IS NOT NULL AND (SELECT count(*) FROM held) >= 0
