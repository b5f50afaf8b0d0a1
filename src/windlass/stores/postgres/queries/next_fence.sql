-- Reserves a fence. Returns: that fence, greater than any before.
SELECT nextval('windlass_fences')
