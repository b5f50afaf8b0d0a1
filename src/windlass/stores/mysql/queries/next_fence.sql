-- Reserves a fence, greater than any before and not below the time: the number that the last row
-- gets. So one that was given before the tables were restored from an old copy is not given again.
-- Arguments: now, or NULL for the server's time. The first row lets the numbers go up to the time;
-- what is added keeps those who do so within one millisecond from waiting for each other.
INSERT INTO windlass_fences (number) VALUES (
  COALESCE(:now, TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(3)) DIV 1000) * 1024
  + CONNECTION_ID() % 1024
) ON DUPLICATE KEY UPDATE number = windlass_fences.number;
INSERT INTO windlass_fences (number) VALUES (NULL)
