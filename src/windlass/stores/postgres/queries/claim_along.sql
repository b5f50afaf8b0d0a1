-- Hands jobs to a worker that come along with one that it has claimed.
-- Arguments: ids (JSON), fence, until, worker, now.
WITH claimed AS (
  UPDATE windlass_jobs
  SET state = 'active', slot = 1, attempt = attempt + 1, fence = :fence::bigint,
      started_at = :now::bigint, lease_until = :until::bigint, worker = :worker::text,
      progress = NULL, unique_key = CASE WHEN NOT brief THEN unique_key END
  WHERE id = ANY (ARRAY(SELECT json_array_elements_text(:ids::json) COLLATE "C"))
  RETURNING queue, place, grp
)
INSERT INTO windlass_clocks AS t (queue, place)
SELECT queue, max(place) FROM claimed WHERE grp IS NOT NULL GROUP BY queue ORDER BY queue
ON CONFLICT (queue) DO UPDATE SET place = greatest(t.place, excluded.place)
