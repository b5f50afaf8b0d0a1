-- Reserves a fence. Returns: that fence, greater than any before; see claim.sql.
SELECT greatest(
  number, number % 65536 + floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint * 1024
)
FROM (SELECT nextval('windlass_fences') AS number) AS n
