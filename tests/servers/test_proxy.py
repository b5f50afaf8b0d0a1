"""The proxy does to a connection what it was told, and nothing else."""

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from tests.servers.ports import free_port
from tests.servers.process import wait_until
from tests.servers.proxy import Proxy, forward


class Echo:
    """A server that notes what it is sent, and sends it back."""

    def __init__(self, listener: socket.socket) -> None:
        self._listener = listener
        self.heard: list[bytes] = []

    def run(self) -> None:
        while True:
            try:
                connection, _ = self._listener.accept()
            except OSError:
                return
            threading.Thread(target=self._answer, args=(connection,), daemon=True).start()

    def _answer(self, connection: socket.socket) -> None:
        with connection:
            while data := _received(connection):
                self.heard.append(data)
                connection.sendall(data)


@pytest.fixture
def echo() -> Iterator[Echo]:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        server = Echo(listener)
        thread = threading.Thread(target=server.run)
        thread.start()
        yield server
        listener.shutdown(socket.SHUT_RDWR)
        thread.join()


@pytest.fixture
def proxy(echo: Echo) -> Iterator[Proxy]:
    with forward(echo._listener.getsockname()[1]) as proxy:
        yield proxy


@contextmanager
def client(proxy: Proxy) -> Iterator[socket.socket]:
    with socket.create_connection(("127.0.0.1", proxy.port), timeout=10) as connection:
        yield connection


def _received(connection: socket.socket) -> bytes:
    """Nothing means that the connection is over, in whatever manner."""
    try:
        return connection.recv(100)
    except ConnectionError:
        return b""


def test_bytes_pass_both_ways_and_are_counted(proxy: Proxy) -> None:
    with client(proxy) as connection:
        connection.sendall(b"one")
        assert connection.recv(100) == b"one"
    counts = proxy.counts
    assert (counts.connections, counts.requests, counts.replies, counts.dropped) == (1, 1, 1, 0)


def test_a_dropped_reply_ends_the_connection_after_the_request_got_through(
    proxy: Proxy, echo: Echo
) -> None:
    proxy.drop_replies(1)
    with client(proxy) as connection:
        connection.sendall(b"one")
        assert _received(connection) == b""
    assert echo.heard == [b"one"]
    assert proxy.counts.dropped == 1
    with client(proxy) as connection:
        connection.sendall(b"two")
        assert connection.recv(100) == b"two"


def test_only_the_replies_to_the_named_requests_are_dropped(proxy: Proxy) -> None:
    proxy.drop_replies(1, after=b"write")
    with client(proxy) as connection:
        connection.sendall(b"read")
        assert connection.recv(100) == b"read"
        connection.sendall(b"write")
        assert _received(connection) == b""


def test_cut_ends_what_is_connected_and_lets_new_ones_in(proxy: Proxy) -> None:
    with client(proxy) as connection:
        connection.sendall(b"one")
        assert connection.recv(100) == b"one"
        proxy.cut()
        assert _received(connection) == b""
    with client(proxy) as connection:
        connection.sendall(b"two")
        assert connection.recv(100) == b"two"


def test_who_is_connected_stays_while_others_are_refused(proxy: Proxy) -> None:
    with client(proxy) as connection:
        connection.sendall(b"one")
        assert connection.recv(100) == b"one"
        proxy.refuse()
        with pytest.raises(ConnectionRefusedError), client(proxy):
            pass
        connection.sendall(b"two")
        assert connection.recv(100) == b"two"
    proxy.accept()
    with client(proxy) as connection:
        connection.sendall(b"three")
        assert connection.recv(100) == b"three"


def test_silence_keeps_everything_until_it_is_over(proxy: Proxy, echo: Echo) -> None:
    with client(proxy) as old:
        old.sendall(b"one")
        assert old.recv(100) == b"one"
        proxy.silence()
        with client(proxy) as new:
            old.sendall(b"two")
            new.sendall(b"three")
            assert wait_until(lambda: proxy.counts.connections == 2)
            old.settimeout(0.2)
            with pytest.raises(TimeoutError):
                old.recv(100)
            assert echo.heard == [b"one"]
            proxy.resume()
            old.settimeout(10)
            assert (old.recv(100), new.recv(100)) == (b"two", b"three")


def test_stranded_connections_stay_silent_while_new_ones_work(proxy: Proxy, echo: Echo) -> None:
    with client(proxy) as old:
        old.sendall(b"one")
        assert old.recv(100) == b"one"
        proxy.strand()
        old.sendall(b"two")
        with client(proxy) as new:
            new.sendall(b"three")
            assert new.recv(100) == b"three"
        old.settimeout(0.2)
        with pytest.raises(TimeoutError):
            old.recv(100)
        assert echo.heard == [b"one", b"three"]


def test_a_server_that_is_down_looks_like_a_connection_that_ends() -> None:
    with forward(free_port()) as proxy, client(proxy) as connection:
        assert _received(connection) == b""


def test_the_url_leads_through_the_proxy() -> None:
    with forward(6379) as proxy:
        url = proxy.through("redis://user:word@127.0.0.1:6379/0?namespace=a")
    assert url == f"redis://user:word@127.0.0.1:{proxy.port}/0?namespace=a"
