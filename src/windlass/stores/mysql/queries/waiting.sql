-- Those of these jobs that wait for others. Arguments: ids. Returns: id.
SELECT DISTINCT CONVERT(child USING utf8mb4) FROM windlass_edges WHERE child IN :ids
