-- As `tops`, as this transaction sees it, without a lock.
-- The last place that groups have taken, from each of these places up to so many after it.
-- Arguments: queue, starts (JSON), slot (at most 1024, and within one). Returns: place, or NULL.
-- By the slot, which is equal to something: where it begins differs from row to row, and a server
-- does not look for such a range in an index.
SELECT (
  SELECT place - 4611684918915760128 FROM windlass_turns FORCE INDEX (windlass_turns_place)
  WHERE queue = :queue AND bin = (start + 4611684918915760128) DIV 1024 AND grp IS NOT NULL
    AND place >= start + 4611684918915760128 AND place < start + 4611684918915760128 + :slot
  ORDER BY place DESC
  LIMIT 1
)
FROM JSON_TABLE(:starts, '$[*]' COLUMNS (start BIGINT PATH '$')) AS wanted
