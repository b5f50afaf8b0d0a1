-- Keeps the newest attempts of a job. Arguments by position: job, the number of those to keep.
DELETE FROM windlass_logs WHERE job = ?1 AND fence < (
  SELECT min(fence) FROM (
    SELECT fence FROM windlass_logs WHERE job = ?1 ORDER BY fence DESC LIMIT ?2
  )
)
