-- Finished jobs by their primary keys, held until the commit.
-- Arguments: rows (JSON: state, finished_at, number). Returns: the lock columns.
-- A join, so that each is looked up as one row: that locks no gap.
SELECT /*finished_lock_columns*/
FROM JSON_TABLE(
  :rows, '$[*]'
  COLUMNS (
    ended VARCHAR(16) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin PATH '$[0]',
    moment BIGINT PATH '$[1]',
    wanted BIGINT PATH '$[2]'
  )
) AS wanted
STRAIGHT_JOIN windlass_finished FORCE INDEX (PRIMARY)
  ON state = ended AND finished_at = moment AND number = wanted
FOR UPDATE
