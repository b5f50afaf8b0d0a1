"""A private Redis that speaks TLS alone and knows one user, who has a password."""

import socket
import ssl
from collections.abc import Iterator
from contextlib import contextmanager

from tests.servers.account import temporary_folder
from tests.servers.binaries import binary
from tests.servers.certificates import Certificates, Tls, certify
from tests.servers.ports import free_port
from tests.servers.server import Server

USER = "windlass"
# Characters that have a meaning of their own in a URL.
PASSWORD = "p@ss/w:rd?"
QUOTED_PASSWORD = "p%40ss%2Fw%3Ard%3F"


@contextmanager
def serve_tls(*options: str) -> Iterator[Tls]:
    """Redis with TLS. A client may show a certificate; `--tls-auth-clients yes` says it must."""
    with temporary_folder("tls") as folder:
        files, port = certify(folder), free_port()
        command = [
            binary("redis-server"),
            "--port 0",
            f"--tls-port {port}",
            "--bind 127.0.0.1",
            f"--dir {folder}",
            "--appendonly yes",
            "--save ''",
            f"--tls-cert-file {files.certificate('server')}",
            f"--tls-key-file {files.key('server')}",
            f"--tls-ca-cert-file {files.authority}",
            "--tls-auth-clients optional",
            f"--user {USER} on >{PASSWORD} ~* &* +@all",
            "--user default off",
            *options,
        ]
        with Server(
            folder=folder,
            port=port,
            url=f"rediss://{USER}:{QUOTED_PASSWORD}@127.0.0.1:{port}/0",
            command=command,
            answers=lambda: _answers(port, files),
        ) as server:
            yield Tls(server, files)


def _answers(port: int, files: Certificates) -> bool:
    """Whether somebody greets who can prove to be our server: it asks for a password."""
    context = ssl.create_default_context(cafile=str(files.authority))
    context.load_cert_chain(files.certificate("client"), files.key("client"))
    try:
        with (
            socket.create_connection(("127.0.0.1", port), timeout=2) as plain,
            context.wrap_socket(plain, server_hostname="127.0.0.1") as connection,
        ):
            connection.sendall(b"PING\r\n")
            return connection.recv(64).startswith(b"-NOAUTH")
    except OSError:
        return False
