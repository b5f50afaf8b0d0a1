-- Takes jobs out of the table of turns. Arguments: ids.
DELETE turns
FROM JSON_TABLE(
  JSON_ARRAY :ids, '$[*]' COLUMNS (id VARCHAR(128) CHARACTER SET utf8mb4 PATH '$')
) AS wanted
STRAIGHT_JOIN windlass_turns AS turns FORCE INDEX (PRIMARY)
WHERE turns.id = wanted.id
