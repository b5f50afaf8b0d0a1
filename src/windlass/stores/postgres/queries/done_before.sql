-- Of jobs that were completed by a call whose answer was lost, those of which that is true, or
-- that are no longer there. Arguments: ids, fences (arrays). Returns: id.
SELECT g.id FROM unnest(:ids::text[], :fences::bigint[]) AS g (id, fence)
LEFT JOIN windlass_finished AS f ON f.id = g.id
WHERE CASE WHEN f.id IS NULL
  THEN NOT EXISTS (SELECT FROM windlass_jobs AS j WHERE j.id = g.id)
  ELSE f.state = 'completed' AND f.fence = g.fence
END
