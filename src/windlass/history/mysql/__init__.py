"""History in MySQL and MariaDB: its schema, and queries that they want otherwise."""
