"""A private PgBouncer in front of a PostgreSQL, in transaction mode: no session is kept."""

from collections.abc import Iterator
from contextlib import contextmanager

from tests.servers.account import account, temporary_folder
from tests.servers.binaries import binary
from tests.servers.ports import ask, free_port
from tests.servers.postgres import HELLO
from tests.servers.server import Server

_SETTINGS = """\
[databases]
* = host=127.0.0.1 port={target}

[pgbouncer]
listen_addr = 127.0.0.1
listen_port = {port}
unix_socket_dir =
auth_type = any
user = {user}
pool_mode = transaction
default_pool_size = 5
max_client_conn = 200
server_reset_query_always = 0
ignore_startup_parameters = extra_float_digits
"""


@contextmanager
def serve(target: Server) -> Iterator[Server]:
    """PgBouncer on a free port, in front of `target`; it has five connections for everybody."""
    program, port = binary("pgbouncer"), free_port()
    with temporary_folder("pgbouncer") as folder:
        settings = folder / "pgbouncer.ini"
        # Everybody is one user of the server, whose trust needs no password.
        text = _SETTINGS.format(target=target.port, port=port, user=account().pw_name)
        settings.write_text(text.replace("* = ", "* = user=windlass "))
        with Server(
            folder=folder,
            port=port,
            url=target.url.replace(f":{target.port}/", f":{port}/"),
            command=[program, str(settings)],
            answers=lambda: ask(port, HELLO).startswith(b"R"),
        ) as server:
            yield server
