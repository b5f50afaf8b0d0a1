-- Adds a key of the API, or changes the one that has this id. Arguments by position: id, record.
INSERT INTO windlass_keys (id, record) VALUES (?, ?)
ON CONFLICT (id) DO UPDATE SET record = excluded.record
