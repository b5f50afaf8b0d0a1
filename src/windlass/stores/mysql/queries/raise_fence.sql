-- Lets the next fence be above one that came from another store. Arguments: fence.
-- The counter is above all numbers that there were: a row that is there needs nothing.
INSERT INTO windlass_fences (number) VALUES (GREATEST(:fence, 1))
ON DUPLICATE KEY UPDATE number = number
