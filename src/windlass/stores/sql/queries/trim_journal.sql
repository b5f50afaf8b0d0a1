-- Drops a line of the journal. Arguments by position: line.
DELETE FROM windlass_journal WHERE line = ?
