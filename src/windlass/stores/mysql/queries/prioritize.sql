-- Gives a waiting job another priority, where it stands as well; NULL leaves its place.
-- Arguments by position: rank, place, id.
UPDATE windlass_jobs SET `rank` = ?1, place = COALESCE(?2, place) WHERE id = ?3;
UPDATE windlass_turns SET `rank` = ?1, place = COALESCE(?2, place) WHERE id = ?3
