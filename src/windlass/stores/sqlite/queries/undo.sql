-- Takes back all since the savepoint, which stays.
ROLLBACK TO SAVEPOINT windlass
