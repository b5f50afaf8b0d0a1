-- Ends a term at once, if the holder has it. Arguments: role, holder.
UPDATE windlass_terms SET holder = '', expires_at = 0 WHERE role = :role AND holder = :holder
