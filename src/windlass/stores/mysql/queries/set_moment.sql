-- Notes in @now the time, the one given or, if that is NULL, the server's; and in @place the end of
-- the line, by the number of the change of counts that was noted last. Arguments: now.
SET
  @now = COALESCE(:now, TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(3)) DIV 1000),
  @place = LAST_INSERT_ID() * 1048576
