-- The last place that groups have taken, from each of these places up to so many after it.
-- Arguments: queue, starts (JSON), slot. Returns: place, or NULL.
SELECT (
  SELECT place FROM windlass_jobs
  WHERE queue = :queue::text AND place >= s.start::bigint + /*band*/
    AND place < s.start::bigint + :slot::bigint + /*band*/
    AND grp IS NOT NULL AND (state = 'pending' OR slot = 0)
  ORDER BY place DESC
  LIMIT 1
) - /*band*/
FROM json_array_elements_text(:starts::json) AS s (start)
