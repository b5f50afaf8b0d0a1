-- Drops a note of what was owed. Arguments by position: note.
DELETE FROM windlass_owed WHERE note IN (/*each*/?/*each*/)
