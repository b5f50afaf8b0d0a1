-- Looks around on a connection that is not ours. Returns: number, name, file of each database.
-- No SELECT: in a transaction that has not written yet it would fix what that one sees, and
-- another's commit would then make its first write fail.
PRAGMA database_list
