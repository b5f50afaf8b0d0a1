"""What a worker tells over HTTP: its metrics, that it lives, and whether it can work.

On threads of its own, which no handler of the worker's event loop can hold up.
"""

from __future__ import annotations

import logging
import socket
import threading
from collections.abc import Callable
from functools import partial
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from socketserver import TCPServer
from typing import Any, Final, NamedTuple

from ..errors import StartupFailed

log = logging.getLogger("windlass")

PATIENCE: Final = 5.0
"""Seconds that a client may take for anything."""

MOST_AT_ONCE: Final = 16
"""Requests that are answered at the same time; whoever comes then is hung up on."""

LOOK: Final = 0.1
"""Seconds between two looks at whether to stop."""

PLAIN: Final = "text/plain; charset=utf-8"


class Answer(NamedTuple):
    """What one address answers."""

    body: bytes
    content_type: str = PLAIN
    status: HTTPStatus = HTTPStatus.OK


class Endpoint:
    """Serves `/metrics`, `/livez` and `/readyz` from `start` to `stop`.

    `scrape` gives what Prometheus reads, `fault` why the worker is not ready, or None if it is,
    `due` why its process should be replaced.
    """

    def __init__(
        self,
        host: str,
        port: int,
        scrape: Callable[[], Answer],
        fault: Callable[[], str | None],
        due: Callable[[], str | None] = lambda: None,
    ) -> None:
        self._pages: dict[str, Callable[[], Answer]] = {
            "/metrics": scrape,
            "/livez": partial(_unless, due, b"alive\n"),
            "/readyz": partial(_unless, fault, b"ready\n"),
        }
        self._where = (host, port)
        self._server: _Server | None = None

    def start(self) -> None:
        """Listen; `StartupFailed` has the reason if that cannot be."""
        host, port = self._where
        try:
            self._server = _Server(host, port, self._pages)
        except OSError as error:
            raise StartupFailed(
                f"The worker cannot tell its metrics on {host}, port {port}: {error.strerror}; "
                "choose another --metrics-port."
            ) from error
        serve = partial(self._server.serve_forever, poll_interval=LOOK)
        threading.Thread(target=serve, name="windlass-metrics", daemon=True).start()

    def stop(self) -> None:
        """Stop listening. Stopping twice is allowed."""
        server, self._server = self._server, None
        if server is not None:
            server.shutdown()
            server.server_close()


def _unless(fault: Callable[[], str | None], well: bytes) -> Answer:
    text = fault()
    if text is None:
        return Answer(well)
    return Answer(f"{text}\n".encode(), status=HTTPStatus.SERVICE_UNAVAILABLE)


class _Server(ThreadingHTTPServer):
    request_queue_size = 64
    daemon_threads = True
    block_on_close = False

    def __init__(self, host: str, port: int, pages: dict[str, Callable[[], Answer]]) -> None:
        [(self.address_family, *_, where), *_] = socket.getaddrinfo(
            host, port, type=socket.SOCK_STREAM
        )
        self.pages = pages
        self._room = threading.Semaphore(MOST_AT_ONCE)
        super().__init__(where[:2], _Request)  # type: ignore[arg-type]

    def server_bind(self) -> None:
        # Without HTTPServer's look-up of this machine's name, which may take seconds.
        TCPServer.server_bind(self)

    def process_request(self, request: Any, client_address: Any) -> None:
        if self._room.acquire(blocking=False):
            super().process_request(request, client_address)
        else:
            self.shutdown_request(request)

    def process_request_thread(self, request: Any, client_address: Any) -> None:
        try:
            super().process_request_thread(request, client_address)
        finally:
            self._room.release()

    def handle_error(self, request: Any, client_address: Any) -> None:
        log.debug("a client of the metrics went away", exc_info=True)


class _Request(BaseHTTPRequestHandler):
    timeout = PATIENCE
    server: _Server

    def do_GET(self) -> None:
        page = self.server.pages.get(self.path.partition("?")[0])
        try:
            answer = page() if page else Answer(b"not found\n", status=HTTPStatus.NOT_FOUND)
        except Exception:
            log.exception("%s failed", self.path)
            answer = Answer(b"failed, see the log\n", status=HTTPStatus.INTERNAL_SERVER_ERROR)
        self.send_response(answer.status)
        self.send_header("Content-Type", answer.content_type)
        self.send_header("Content-Length", str(len(answer.body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(answer.body)

    do_HEAD = do_GET

    def version_string(self) -> str:
        return "windlass"

    def log_message(self, format: str, *args: Any) -> None:
        """Nothing: a scrape is no news."""
