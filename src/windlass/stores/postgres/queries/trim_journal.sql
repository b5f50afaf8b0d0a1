-- Drops lines of the journal. Arguments by position, as an array: line.
DELETE FROM windlass_journal WHERE line IN (SELECT unnest(?::bigint[]))
