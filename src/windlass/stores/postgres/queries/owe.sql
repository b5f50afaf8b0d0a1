-- Notes that jobs have ended and that not all of their dependents were seen to.
-- Arguments by position, as arrays: parent, until (the last edge that it concerns), why (JSON, or
-- NULL if it was completed).
INSERT INTO windlass_owed (parent, until, why)
SELECT * FROM unnest(?::text[], ?::bigint[], ?::text[])
