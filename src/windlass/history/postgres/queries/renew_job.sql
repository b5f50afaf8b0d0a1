-- Brings jobs up to date, unless history has a later line of them already.
-- Arguments by position, as arrays: as `renewal` in record.py.
UPDATE windlass_history AS h
SET task = g.task, queue = g.queue, state = g.state, attempt = g.attempt, fence = g.fence,
    waited = g.waited, created_at = g.created_at, ended_at = g.ended_at, duration = g.duration,
    labels = g.labels, error = g.error, record = g.record
FROM unnest(
  ?::text[], ?::text[], ?::text[], ?::bigint[], ?::bigint[], ?::bigint[], ?::bigint[], ?::bigint[],
  ?::bigint[], ?::text[], ?::text[], ?::bytea[], ?::text[], ?::bigint[], ?::bigint[], ?::bigint[],
  ?::bigint[], ?::bigint[], ?::bigint[]
) AS g (
  task, queue, state, attempt, fence, waited, created_at, ended_at, duration, labels, error, record,
  id, above, stale, same, ran, waiting, later
)
WHERE h.id = g.id
  AND (h.fence < g.above OR h.ended_at < g.stale
       OR (h.fence = g.same
           AND (h.waited < g.ran OR (h.waited = g.waiting AND h.ended_at < g.later))))
