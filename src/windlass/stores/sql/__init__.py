"""What the SQL engines share: operations, row mapping, queries, migrations."""
