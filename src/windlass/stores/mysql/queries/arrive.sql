-- Looks around on a connection that is not ours.
-- Returns one row: the server's time, and whether the store's tables are there.
SELECT
  TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(3)) DIV 1000,
  EXISTS (
    SELECT 1 FROM information_schema.tables
    WHERE table_schema = DATABASE() AND table_name = 'windlass_jobs'
  )
