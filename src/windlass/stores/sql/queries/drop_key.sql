-- Removes a key of the API. Arguments by position: id.
DELETE FROM windlass_keys WHERE id = ?
