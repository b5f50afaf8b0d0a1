-- Looks around on a connection that is not ours.
-- Returns one row: the server's time, whether the store's tables are there, the isolation, whose name
-- differs between MySQL and MariaDB, the database, and whether names of databases differ by case.
SELECT
  TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(3)) DIV 1000,
  EXISTS (
    SELECT 1 FROM information_schema.tables
    WHERE table_schema = DATABASE() AND table_name = 'windlass_jobs'
  ),
  /*!80000 @@transaction_isolation */ /*M! @@tx_isolation */,
  DATABASE(),
  @@lower_case_table_names = 0
