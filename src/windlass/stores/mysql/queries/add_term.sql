-- Makes a role known, with a term that nobody has. Arguments: role.
INSERT INTO windlass_terms (role, holder, term, expires_at) VALUES (:role, '', 0, 0)
ON DUPLICATE KEY UPDATE term = term
