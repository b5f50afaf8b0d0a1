-- What became of a transaction. Arguments: number (as text).
-- Returns: committed, aborted, in progress, or NULL if that is too long ago.
SELECT pg_xact_status((:number::text)::xid8)
