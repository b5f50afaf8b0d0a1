-- Accepts one job with a new id, without a key and to be run at once; tells nobody.
-- Arguments: id, spec, queue, rank, keep, now (NULL: the server's clock).
-- The commonest call there is: what `insert` does for many kinds takes three times as long.
WITH made AS (
  INSERT INTO windlass_jobs (id, spec, queue, state, rank, place, created_at, due, keep)
  VALUES (
    :id::text, :spec::bytea, :queue::text, 'pending', :rank::bigint,
    (nextval('windlass_places') << 20) + 1,
    coalesce(:now::bigint, floor(extract(epoch FROM statement_timestamp()) * 1000)::bigint),
    coalesce(:now::bigint, floor(extract(epoch FROM statement_timestamp()) * 1000)::bigint),
    :keep::bigint
  )
)
INSERT INTO windlass_deltas (queue, state, number) VALUES (:queue::text, 'pending', 1)
