-- Puts rows where finished jobs of these ids would be, unless there are some: whoever sees them
-- afterwards has put them there. Arguments by position: id, number of the probe.
INSERT INTO windlass_finished
  (state, finished_at, number, id, queue, `rank`, place, due, attempt, fence, keep, created_at, spec)
VALUES
  /*each*/('completed', 0, -(CONNECTION_ID() * 1048576 + ?2), ?1, '', 0, 0, 0, 0, 0, 0, 0, '')/*each*/
ON DUPLICATE KEY UPDATE number = windlass_finished.number
