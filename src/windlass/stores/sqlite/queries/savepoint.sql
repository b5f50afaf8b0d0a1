-- Marks a point of the transaction to which `undo` goes back.
SAVEPOINT windlass
