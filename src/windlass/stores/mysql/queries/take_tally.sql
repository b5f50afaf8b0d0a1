-- Notes which tally of a worker was taken last. Arguments: worker, number, now.
-- Returns: a row, unless this one or a later one was taken before.
SET @taken = (SELECT number FROM windlass_tallies WHERE worker = :worker FOR UPDATE);
INSERT INTO windlass_tallies (worker, number, at) VALUES (:worker, :number, :now)
ON DUPLICATE KEY UPDATE at = IF(number < :number, :now, at), number = GREATEST(number, :number);
SELECT 1 FROM DUAL WHERE @taken IS NULL OR @taken < :number
