-- Gives expired leases to a rescuer, each by a fence above its last one.
-- Arguments by position, as arrays: fence, lease_until, worker, id.
UPDATE windlass_jobs AS j SET fence = greatest(g.fence, j.fence + 1), lease_until = g.lease_until, worker = g.worker
FROM unnest(?::bigint[], ?::bigint[], ?::text[], ?::text[]) AS g (fence, lease_until, worker, id)
WHERE j.id = g.id
