"""Private servers for the tests: real Redis, PostgreSQL and MariaDB in temporary folders.

Nothing here touches a server that already runs on the machine.
"""
