-- Ends all terms of a holder at once. Arguments: holder.
UPDATE windlass_terms SET holder = '', expires_at = 0 WHERE holder = :holder
