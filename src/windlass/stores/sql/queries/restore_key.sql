-- Gives a finished job the unique key that it once held. Arguments by position: unique_key, id.
UPDATE windlass_finished SET unique_key = ? WHERE id = ?
