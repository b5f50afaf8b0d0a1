-- Gives a waiting job another time; NULL leaves its place. Arguments by position: state, due, place, id.
-- Its old place is nobody's from now on: a group that it was the last of would else be counted from
-- there.
UPDATE windlass_jobs SET state = ?1, due = ?2, place = COALESCE(?3, place) WHERE id = ?4;
UPDATE windlass_turns SET place = COALESCE(?3, place) WHERE id = ?4
