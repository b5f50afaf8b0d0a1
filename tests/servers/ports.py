"""Free TCP ports on the loopback address."""

import random
import socket

# Below the range the kernel hands out to outgoing connections, so that no client
# can sit on a server's port while that server is down between a kill and a restart.
_RANGE = range(20_000, 32_000)


def free_port() -> int:
    """A port nobody listens on right now; another process may still be quicker to take it."""
    for port in random.sample(_RANGE, 200):
        with socket.socket() as candidate:
            try:
                candidate.bind(("127.0.0.1", port))
            except OSError:
                continue
            return port
    raise RuntimeError(f"no free port between {_RANGE.start} and {_RANGE.stop}")


def ask(port: int, request: bytes) -> bytes:
    """The first bytes a server answers to `request`, or nothing when it is not there yet."""
    try:
        with socket.create_connection(("127.0.0.1", port), timeout=2) as connection:
            connection.sendall(request)
            return connection.recv(64)
    except OSError:
        return b""
