-- Lets go of the savepoint; what was done since stands.
RELEASE SAVEPOINT windlass
