-- Notes a change of a count. Arguments by position: queue, state, number (may be negative).
INSERT INTO windlass_deltas (queue, state, number) VALUES /*each*/(?, ?, ?)/*each*/
