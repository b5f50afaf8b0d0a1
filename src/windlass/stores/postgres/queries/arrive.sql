-- Looks around on a connection that is not ours.
-- Returns one row: now by the server's clock, whether the store's tables are there, NULL, the
-- database, and which cluster of databases it is in.
SELECT floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint,
       to_regclass('windlass_jobs') IS NOT NULL,
       NULL,
       current_database()::text,
       (SELECT system_identifier::text FROM pg_control_system())
