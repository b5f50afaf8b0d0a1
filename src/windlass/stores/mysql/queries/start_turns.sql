-- Notes that jobs which were in line are no longer: a slot is kept. Arguments by position: id.
UPDATE windlass_turns FORCE INDEX (PRIMARY) SET stand = 2, grp = NULL
WHERE id IN (/*each*/?/*each*/) AND stand IS NOT NULL;
DELETE turns
FROM JSON_TABLE(
  JSON_ARRAY(/*each*/?/*each*/), '$[*]'
  COLUMNS (id VARCHAR(128) CHARACTER SET utf8mb4 PATH '$')
) AS wanted
STRAIGHT_JOIN windlass_turns AS turns
WHERE turns.id = wanted.id AND turns.stand IS NULL
