-- Forgets the attempts of jobs. Arguments by position, as an array: id.
DELETE FROM windlass_logs AS a USING unnest(?::text[]) AS g (id) WHERE a.job = g.id COLLATE "C"
