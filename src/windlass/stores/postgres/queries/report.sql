-- Notes how far attempts have come, those that are still held.
-- Arguments by position, as arrays: progress, id, fence.
-- The CASE keeps the planner from going by an index of active jobs: their number is not known.
UPDATE windlass_jobs AS j SET progress = g.progress
FROM unnest(?::text[], ?::text[], ?::bigint[]) AS g (progress, id, fence)
WHERE j.id = g.id AND CASE j.state WHEN 'active' THEN j.fence END = g.fence
