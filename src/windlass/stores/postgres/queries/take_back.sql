-- Takes jobs back that were just stored under ids that finished jobs have.
-- Arguments: ids (array). Returns: id.
WITH gone AS (
  DELETE FROM windlass_jobs AS j USING windlass_finished AS f
  WHERE f.id = j.id AND j.id = ANY (:ids::text[])
  RETURNING j.id, j.queue, j.state
), tallied AS (
  INSERT INTO windlass_deltas (queue, state, number)
  SELECT queue, state, -count(*) FROM gone GROUP BY queue, state
)
SELECT id FROM gone
