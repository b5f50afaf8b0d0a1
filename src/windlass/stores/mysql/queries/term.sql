-- The present term of a role, held against other candidates. Arguments: role.
-- Returns: holder, term, expires_at.
SELECT holder, term, expires_at FROM windlass_terms WHERE role = :role FOR UPDATE
