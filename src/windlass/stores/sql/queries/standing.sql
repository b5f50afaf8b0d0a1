-- How many jobs of a lane have a slot, and how many of these are pending.
-- Arguments: queue, lane, limit (no more than this is counted). Returns: held, pending.
SELECT
  (SELECT count(*) FROM (
    SELECT 1 FROM windlass_jobs WHERE slot = 1 AND queue = :queue AND lane = :lane LIMIT :limit
  ) AS held),
  (SELECT count(*) FROM (
    SELECT 1 FROM windlass_jobs
    WHERE slot = 1 AND queue = :queue AND lane = :lane AND state = 'pending'
    LIMIT :limit
  ) AS ready)
