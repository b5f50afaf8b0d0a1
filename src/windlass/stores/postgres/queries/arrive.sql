-- Looks around on a connection that is not ours.
-- Returns one row: now by the server's clock, whether the store's tables are there, NULL.
SELECT floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint,
       to_regclass('windlass_jobs') IS NOT NULL,
       NULL
