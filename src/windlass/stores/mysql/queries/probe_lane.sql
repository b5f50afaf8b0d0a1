-- Puts a row before and one behind all turns of a lane: what looks at the lane then locks gaps
-- between these, and none that another lane needs. Arguments by position: id of the first, id of
-- the last, queue, lane.
INSERT INTO windlass_turns (id, queue, lane, stand, `rank`, place)
VALUES (?1, ?3, ?4, -1, 0, 0), (?2, ?3, ?4, 3, 0, 0)
