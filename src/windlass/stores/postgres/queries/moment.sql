-- Begins an operation that writes. Arguments: now (NULL: the server's clock).
-- Returns: the present moment, and the transaction's number, by which it can be asked later
-- whether it was committed.
SELECT coalesce(:now::bigint, floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint),
       pg_current_xact_id()::text
