-- Takes back what a worker was told. Arguments: id.
DELETE FROM windlass_orders WHERE worker = :id
