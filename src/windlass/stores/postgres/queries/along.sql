-- The jobs that come along with the first of a lane, as far as there is room for their specs.
-- Arguments: queue, lane, limit, room (bytes). Returns: the claim columns, the size of the spec, state.
SELECT 0, id, spec, rank, created_at, due, attempt, unique_key, error, checkpoint, awaits, mail, lost,
       size, state
FROM (
  SELECT *, octet_length(spec) AS size, sum(octet_length(spec)) OVER (ORDER BY place) AS total
  FROM (
    SELECT * FROM windlass_jobs
    WHERE slot = 0 AND queue = :queue::text AND lane = :lane::text
    ORDER BY place
    LIMIT :limit::bigint
  ) AS firsts
) AS sized
WHERE total <= :room::bigint
ORDER BY place
