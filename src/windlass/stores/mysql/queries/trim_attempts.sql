-- Keeps the newest attempts of a job. Arguments by position: job, the number of those to keep.
-- The last SELECT is there for servers that do not read from a table which they delete from.
DELETE FROM windlass_logs WHERE job = ?1 AND fence < (
  SELECT least FROM (
    SELECT MIN(fence) AS least FROM (
      SELECT fence FROM windlass_logs WHERE job = ?1 ORDER BY fence DESC LIMIT ?2
    ) AS newest
  ) AS found
)
