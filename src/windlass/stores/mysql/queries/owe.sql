-- Notes that a job has ended and that not all of its dependents were seen to.
-- Arguments by position: parent, until (the last edge that it concerns), why (JSON, or NULL if it
-- was completed).
INSERT INTO windlass_owed (parent, until, why) VALUES /*each*/(?, ?, ?)/*each*/
