-- Who was elected and has not resigned. Returns: role, holder, term, expires_at.
SELECT CONVERT(role USING utf8mb4), holder, term, expires_at FROM windlass_terms WHERE holder <> ''
