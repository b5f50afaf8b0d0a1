-- Drops notes of what was owed. Arguments by position, as an array: note.
DELETE FROM windlass_owed WHERE note IN (SELECT unnest(?::bigint[]))
