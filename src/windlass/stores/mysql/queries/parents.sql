-- Those of these jobs that others wait for. Arguments: ids. Returns: id.
SELECT DISTINCT CONVERT(parent USING utf8mb4) FROM windlass_edges WHERE parent IN :ids
