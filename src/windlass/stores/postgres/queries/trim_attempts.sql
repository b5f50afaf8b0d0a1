-- Keeps the newest attempts of jobs.
-- Arguments by position, as arrays: job, the number of those to keep.
DELETE FROM windlass_logs AS a
USING (
  SELECT g.job, (
    SELECT fence FROM windlass_logs WHERE job = g.job COLLATE "C"
    ORDER BY fence DESC OFFSET g.most - 1 LIMIT 1
  ) AS least
  FROM unnest(?::text[], ?::bigint[]) AS g (job, most)
) AS n
WHERE a.job = n.job COLLATE "C" AND a.fence < n.least
