-- Of jobs that were ended by a call whose answer was lost, those that stand as it left them, or that
-- are no longer there if they were not to be kept. Arguments: ids, fences, states (arrays).
-- Returns: id.
SELECT g.id FROM unnest(:ids::text[], :fences::bigint[], :states::text[]) AS g (id, fence, state)
LEFT JOIN windlass_finished AS f ON f.id = g.id
LEFT JOIN windlass_jobs AS j ON j.id = g.id
WHERE CASE
  WHEN f.id IS NOT NULL THEN f.state = g.state COLLATE "C" AND f.fence = g.fence
  WHEN j.id IS NOT NULL THEN j.state = g.state COLLATE "C" AND j.fence = g.fence
  ELSE g.state IN ('completed', 'cancelled')
END
