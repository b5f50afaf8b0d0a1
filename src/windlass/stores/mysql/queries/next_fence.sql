-- Reserves a fence, greater than any before: the number that the row gets. Returns nothing else.
INSERT INTO windlass_fences (number) VALUES (NULL)
