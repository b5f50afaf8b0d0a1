-- Lets jobs be in lanes or groups, and notes where they stand. NULL leaves a state or a place as it
-- is. Arguments by position: lane, grp, state, slot (1 has one, 0 waits for one, or NULL), place, id.
-- A NULL within JSON is read as a text by some servers: what is empty, or -1, stands for it.
-- Places of groups begin at 2 ** 62 here, for those of other jobs grow by 2 ** 20 with each call.
UPDATE JSON_TABLE(
  JSON_ARRAY(
    /*each*/JSON_ARRAY(
      COALESCE(?, ''), COALESCE(?, ''), COALESCE(?, ''), COALESCE(?, -1), COALESCE(?, -1), ?
    )/*each*/
  ), '$[*]'
  COLUMNS (
    lane VARCHAR(256) CHARACTER SET utf8mb4 PATH '$[0]',
    grp VARCHAR(256) CHARACTER SET utf8mb4 PATH '$[1]',
    state VARCHAR(16) CHARACTER SET utf8mb4 PATH '$[2]',
    slot TINYINT PATH '$[3]',
    place BIGINT PATH '$[4]',
    id VARCHAR(128) CHARACTER SET utf8mb4 PATH '$[5]'
  )
) AS given
STRAIGHT_JOIN windlass_jobs AS jobs
SET jobs.lane = NULLIF(given.lane, ''), jobs.grp = NULLIF(given.grp, ''),
    jobs.slot = NULLIF(given.slot, -1), jobs.state = COALESCE(NULLIF(given.state, ''), jobs.state),
    jobs.place = COALESCE(NULLIF(given.place, -1) + 4611684918915760128, jobs.place)
WHERE jobs.id = given.id;
DELETE turns
FROM JSON_TABLE(
  JSON_ARRAY(/*each*/?6/*each*/), '$[*]'
  COLUMNS (id VARCHAR(128) CHARACTER SET utf8mb4 PATH '$')
) AS wanted
STRAIGHT_JOIN windlass_turns AS turns
WHERE turns.id = wanted.id;
INSERT INTO windlass_turns (id, queue, lane, stand, grp, `rank`, place)
SELECT id, queue, CASE WHEN slot IS NOT NULL THEN lane END,
  CASE WHEN slot = 1 AND state = 'pending' THEN 1 WHEN slot = 1 THEN 2 ELSE slot END,
  CASE WHEN slot = 0 OR state = 'pending' THEN grp END, `rank`, place
FROM windlass_jobs FORCE INDEX (windlass_jobs_id)
WHERE (slot IS NOT NULL OR (grp IS NOT NULL AND state = 'pending')) AND id IN (/*each*/?6/*each*/)
