-- Takes a worker off the list. Arguments: id.
DELETE FROM windlass_workers WHERE id = :id
