-- The present term of a role. Arguments: role. Returns: holder, term, expires_at.
SELECT holder, term, expires_at FROM windlass_terms WHERE role = :role
