-- Starts or prolongs a term. Arguments: role, holder, term, expires_at.
UPDATE windlass_terms SET holder = :holder, term = :term, expires_at = :expires_at
WHERE role = :role
