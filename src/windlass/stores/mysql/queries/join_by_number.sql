-- As `join`, by the primary keys of all tables. A turn that says nothing is not left there.
-- Arguments by position: lane, grp, state, slot, place, id, number.
UPDATE JSON_TABLE(
  JSON_ARRAY(
    /*each*/JSON_ARRAY(
      COALESCE(?1, ''), COALESCE(?2, ''), COALESCE(?3, ''), COALESCE(?4, -1), COALESCE(?5, -1), ?7
    )/*each*/
  ), '$[*]'
  COLUMNS (
    lane VARCHAR(256) CHARACTER SET utf8mb4 PATH '$[0]',
    grp VARCHAR(256) CHARACTER SET utf8mb4 PATH '$[1]',
    state VARCHAR(16) CHARACTER SET utf8mb4 PATH '$[2]',
    slot TINYINT PATH '$[3]',
    place BIGINT PATH '$[4]',
    number BIGINT PATH '$[5]'
  )
) AS given
STRAIGHT_JOIN windlass_jobs AS jobs FORCE INDEX (PRIMARY)
SET jobs.lane = NULLIF(given.lane, ''), jobs.grp = NULLIF(given.grp, ''),
    jobs.slot = NULLIF(given.slot, -1), jobs.state = COALESCE(NULLIF(given.state, ''), jobs.state),
    jobs.place = COALESCE(NULLIF(given.place, -1) + 4611684918915760128, jobs.place)
WHERE jobs.number = given.number;
INSERT INTO windlass_turns (id, queue, lane, stand, grp, `rank`, place)
SELECT id, queue, CASE WHEN slot IS NOT NULL THEN lane END,
  CASE WHEN slot = 1 AND state = 'pending' THEN 1 WHEN slot = 1 THEN 2 ELSE slot END,
  CASE WHEN slot = 0 OR state = 'pending' THEN grp END, `rank`, place
FROM JSON_TABLE(
  JSON_ARRAY(/*each*/?7/*each*/), '$[*]' COLUMNS (wanted BIGINT PATH '$')
) AS given
STRAIGHT_JOIN windlass_jobs FORCE INDEX (PRIMARY) ON number = wanted
ON DUPLICATE KEY UPDATE lane = VALUES(lane), stand = VALUES(stand), grp = VALUES(grp),
  `rank` = VALUES(`rank`), place = VALUES(place);
DELETE turns
FROM JSON_TABLE(
  JSON_ARRAY(/*each*/?6/*each*/), '$[*]'
  COLUMNS (id VARCHAR(128) CHARACTER SET utf8mb4 PATH '$')
) AS wanted
STRAIGHT_JOIN windlass_turns AS turns FORCE INDEX (PRIMARY)
WHERE turns.id = wanted.id AND turns.stand IS NULL AND turns.grp IS NULL
