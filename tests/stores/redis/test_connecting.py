"""What a URL says of the way to a server: who asks, where it is, and how long it may take."""

import asyncio
import socket
import subprocess
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.servers import redis
from tests.servers.account import temporary_folder
from tests.servers.certificates import Tls
from tests.servers.ports import free_port
from tests.servers.proxy import Proxy
from tests.servers.redis import tell
from tests.servers.redis_cluster import Cluster
from tests.servers.redis_sentinel import Sentinels
from tests.servers.server import Server
from tests.stores.redis.transports import connected
from windlass.core.model import NewJob, Spec
from windlass.errors import InvalidOption, StoreError, StoreUnavailable
from windlass.stores.open import open_store
from windlass.stores.redis.url import Address, parse
from windlass.sync import drive

FLOW = 4 * 1024 * 1024
"""Bytes a second of a slow network."""


def both(url: str, check: Callable[[Any], Any]) -> list[Any]:
    """What `check` says of an async store and of a blocking one."""

    async def ask(blocking: bool) -> Any:
        store = open_store(url, blocking=blocking)
        await store.open()
        try:
            return await check(store)
        finally:
            await store.close()

    return [asyncio.run(ask(False)), drive(ask(True))]


async def name_of(store: Any) -> str:
    return str((await store._transport.send(None, "CLIENT", "GETNAME")).decode())


async def user_of(store: Any) -> str:
    return str((await store._transport.send(None, "ACL", "WHOAMI")).decode())


def test_a_socket_of_the_same_machine() -> None:
    with temporary_folder("socket") as folder, redis.serve(f"--unixsocket {folder}/redis.sock"):

        async def insert(store: Any) -> int:
            await store.insert([NewJob(f"job-{store.blocking}", Spec("work", b""))])
            return len(await store.get(["job-True", "job-False"]))

        assert both(f"redis+unix://{folder}/redis.sock?db=3", insert) == [1, 2]


def test_a_name_for_the_list_of_clients(redis_server: Server) -> None:
    assert both(redis_server.url, name_of) == ["windlass", "windlass"]
    assert both(f"{redis_server.url}?client_name=shop", name_of) == ["shop", "shop"]


@pytest.fixture
def users(redis_server: Server) -> Iterator[Server]:
    tell(redis_server.port, "ACL", "SETUSER", "open", "on", "nopass", "~*", "&*", "+@all")
    tell(redis_server.port, "ACL", "SETUSER", "shut", "on", ">one", "~*", "&*", "+@all")
    yield redis_server
    tell(redis_server.port, "ACL", "DELUSER", "open", "shut")


def test_a_user_without_a_password(users: Server) -> None:
    assert both(f"redis://open@127.0.0.1:{users.port}", user_of) == ["open", "open"]


def rotating() -> tuple[str, str]:
    return "shut", TOKEN[0]


TOKEN = ["one"]


def test_credentials_of_a_function_are_asked_for_each_connection(users: Server) -> None:
    url = f"redis://127.0.0.1:{users.port}?credentials={__name__}:rotating"
    TOKEN[0] = "one"
    assert both(url, user_of) == ["shut", "shut"]

    async def rotate(store: Any) -> str:
        tell(users.port, "ACL", "SETUSER", "shut", "resetpass", ">two")
        TOKEN[0] = "two"
        tell(users.port, "CLIENT", "KILL", "USER", "shut")
        return await user_of(store)

    assert both(url, rotate) == ["shut", "shut"]


@pytest.mark.parametrize("path", ["nowhere:f", f"{__name__}:nobody", f"{__name__}:TOKEN", "x"])
def test_credentials_that_are_no_function(path: str) -> None:
    with pytest.raises(InvalidOption, match="credentials"):
        parse(f"redis://h?credentials={path}")


def test_certificates_for_another_name(redis_tls: Tls) -> None:
    ca = f"ca={redis_tls.certificates.authority}"
    front = redis_tls.url.rpartition("@")[0]
    other = f"{front}@other.example:{redis_tls.server.port}"
    with names({"other.example": ["127.0.0.1"]}):
        with pytest.raises(StoreError, match="not trusted"):
            both(f"{other}?{ca}", name_of)
        assert both(f"{other}?{ca}&check_hostname=no", name_of) == ["windlass", "windlass"]


def test_a_folder_of_authorities(redis_tls: Tls, tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="not trusted"):
        both(f"{redis_tls.url}?ca={tmp_path}&patience=0.1", name_of)
    # The hash of the name, as OpenSSL looks for it.
    authority = redis_tls.certificates.authority
    found = subprocess.run(
        ["openssl", "x509", "-hash", "-noout", "-in", authority], capture_output=True, check=True
    )
    (tmp_path / f"{found.stdout.decode().strip()}.0").write_bytes(authority.read_bytes())
    assert both(f"{redis_tls.url}?ca={tmp_path}", name_of) == ["windlass", "windlass"]


def test_tls_of_sentinels_is_their_own() -> None:
    plain = parse("rediss+sentinel://h/m?sentinel_tls=off")
    assert plain.tls is not None and plain.sentinel_tls is None
    same = parse("rediss+sentinel://h/m")
    assert same.sentinel_tls is same.tls is not None
    own = parse("redis+sentinel://h/m?sentinel_verify=no")
    assert own.tls is None and own.sentinel_tls is not None
    assert not own.sentinel_tls.check_hostname
    for url in ("rediss://h?sentinel_tls=off", "redis+sentinel://h/m?sentinel_tls=perhaps"):
        with pytest.raises(InvalidOption):
            parse(url)


def test_where_servers_are_to_be_reached() -> None:
    given = parse("redis+cluster://h?addresses=10.0.0.1:7000=near:1,10.0.0.2=near:2").reachable
    assert given == {
        Address("10.0.0.1", 7000): Address("near", 1),
        Address("10.0.0.2", 6379): Address("near", 2),
    }
    for text in ("10.0.0.1", "=h", "a=", "a=b=c:d"):
        with pytest.raises(InvalidOption):
            parse(f"redis+cluster://h?addresses={text}")
    with pytest.raises(InvalidOption):
        parse("redis://h?addresses=a=b")


def test_a_master_behind_a_translated_address(
    redis_sentinel: Sentinels, redis_proxy: Proxy
) -> None:
    redis_sentinel.heal()
    master = redis_sentinel.master()
    redis_proxy.lead(master.port)
    before = redis_proxy.counts.connections
    url = f"{redis_sentinel.url}?addresses=127.0.0.1:{master.port}=127.0.0.1:{redis_proxy.port}"
    assert both(url, name_of) == ["windlass", "windlass"]
    assert redis_proxy.counts.connections >= before + 2


def test_nodes_of_a_cluster_behind_translated_addresses(
    redis_cluster: Cluster, redis_proxy: Proxy
) -> None:
    node = redis_cluster.master_of(0)
    redis_proxy.lead(node.port)
    before = redis_proxy.counts.connections
    url = f"{redis_cluster.url}?addresses=127.0.0.1:{node.port}=127.0.0.1:{redis_proxy.port}"
    both(url, name_of)
    assert redis_proxy.counts.connections > before


@contextmanager
def names(found: dict[str, list[str]], pause: float = 0.0) -> Iterator[None]:
    """A resolver that knows these names, and takes its time."""
    real = socket.getaddrinfo
    waiting = threading.Event()

    def resolve(host: Any, port: Any, *args: Any, **options: Any) -> Any:
        if host not in found:
            return real(host, port, *args, **options)
        waiting.wait(pause)
        return [each for to in found[host] for each in real(to, port, *args, **options)]

    socket.getaddrinfo = resolve
    try:
        yield
    finally:
        socket.getaddrinfo = real


def test_a_slow_resolver_has_the_time_that_the_url_gives(redis_server: Server) -> None:
    with names({"slow.example": ["127.0.0.1"]}, pause=1.5):
        url = f"redis://slow.example:{redis_server.port}"
        assert both(url, name_of) == ["windlass", "windlass"]
        with pytest.raises(StoreUnavailable):
            asyncio.run(opened(f"{url}?connect_timeout=0.2&patience=0.5"))


async def opened(url: str) -> None:
    store = open_store(url)
    try:
        await store.open()
    finally:
        await store.close()


def test_an_address_that_swallows_packets_is_left_for_the_next(redis_server: Server) -> None:
    # Nobody accepts, and its line is full: what comes is dropped, as by a firewall.
    with socket.socket() as deaf, names({"two.example": ["127.0.0.3", "127.0.0.1"]}):
        deaf.bind(("127.0.0.3", redis_server.port))
        deaf.listen(0)
        fillers = [fill(deaf) for _ in range(3)]
        url = f"redis://two.example:{redis_server.port}"
        assert both(url, name_of) == ["windlass", "windlass"]
        for each in fillers:
            each.close()


def fill(deaf: socket.socket) -> socket.socket:
    filler = socket.socket()
    filler.setblocking(False)
    filler.connect_ex(deaf.getsockname())
    return filler


def test_a_server_that_accepts_and_says_nothing_is_given_up(redis_server: Server) -> None:
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", free_port()))
        silent.listen(16)
        url = f"redis://127.0.0.1:{silent.getsockname()[1]}?timeout=0.2&patience=0.5"
        for blocking in (False, True):
            with pytest.raises(StoreUnavailable):
                if blocking:
                    drive(open_store(url, blocking=True).open())
                else:
                    asyncio.run(opened(url))


async def test_an_answer_that_is_arriving_is_not_given_up(redis_server: Server) -> None:
    value = bytes(6 * 1024 * 1024)
    tell(redis_server.port, "SET", "large", value)
    try:
        await arrives(redis_server.port, len(value))
    finally:
        tell(redis_server.port, "DEL", "large")


async def arrives(port: int, size: int) -> None:
    async with slow(port) as way:
        url = f"redis://127.0.0.1:{way}?timeout=0.5&patience=1"
        async with connected(url) as transport:
            assert len(await transport.send(None, "GET", "large")) == size


class slow:
    """A way to a server on which answers take a while."""

    def __init__(self, port: int) -> None:
        self._port = port

    async def __aenter__(self) -> int:
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        port: int = self._server.sockets[0].getsockname()[1]
        return port

    async def __aexit__(self, *_: object) -> None:
        self._server.close()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        answers, requests = await asyncio.open_connection("127.0.0.1", self._port)

        async def ask() -> None:
            while data := await reader.read(65_536):
                requests.write(data)
            requests.close()

        asking = asyncio.create_task(ask())
        while data := await answers.read(65_536):
            writer.write(data)
            await writer.drain()
            await asyncio.sleep(len(data) / FLOW)
        writer.close()
        await asking
