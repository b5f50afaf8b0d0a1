"""The same transport on plain sockets, for code without an event loop."""

import os
import signal
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

import pytest

from tests.servers.certificates import Tls
from tests.servers.process import wait_until
from tests.servers.proxy import Proxy
from tests.servers.redis import tell
from tests.servers.redis_cluster import Cluster
from tests.servers.redis_sentinel import Sentinels
from tests.servers.server import Server
from tests.stores.redis.transports import COUNT_ONCE, ECHO, ONE, script
from windlass.errors import StoreError, StoreUnavailable
from windlass.stores.redis.transport import Transport, open_transport
from windlass.stores.redis.url import parse
from windlass.sync import drive


@contextmanager
def connected(url: str) -> Iterator[Transport]:
    transport = open_transport(parse(url), blocking=True)
    drive(transport.open())
    try:
        yield transport
    finally:
        drive(transport.close())


def connections(port: int) -> int:
    return sum("name=windlass" in each for each in tell(port, "CLIENT", "LIST").splitlines())


def test_many_threads_each_get_their_own_replies(redis_server: Server) -> None:
    with connected(redis_server.url) as transport, ThreadPoolExecutor(24) as threads:

        def ask(number: int) -> bool:
            return bool(drive(transport.run(0, ECHO, [], [number])) == [b"0", b"%d" % number])

        assert all(threads.map(ask, range(3_000)))


def test_connections_are_few_and_gone_after_close(redis_server: Server) -> None:
    together = threading.Barrier(24)
    with (
        connected(f"{redis_server.url}?connections=5") as transport,
        ThreadPoolExecutor(24) as threads,
    ):
        slow = script("local n = 0 for i = 1, 300000 do n = n + i end return n")

        def ask(_: int) -> object:
            together.wait()
            return drive(transport.run(0, slow, [], []))

        assert len(set(threads.map(ask, range(24)))) == 1
        made = tell(redis_server.port, "INFO", "stats")["total_connections_received"]
        assert len(set(threads.map(ask, range(24)))) == 1
        assert 1 < connections(redis_server.port) <= 5
        # They are kept, and none is made anew for the next calls but the two that ask here.
        assert tell(redis_server.port, "INFO", "stats")["total_connections_received"] <= made + 2
    assert wait_until(lambda: connections(redis_server.port) == 0)


def test_a_lost_reply_is_told_to_the_script(redis_server: Server, redis_proxy: Proxy) -> None:
    tell(redis_server.port, "DEL", "once")
    with connected(redis_proxy.through(redis_server.url)) as transport:
        redis_proxy.drop_replies(1, after=b"EVALSHA")
        assert drive(transport.run(0, ONE, [], [])) == 1
        assert drive(transport.run(0, COUNT_ONCE, ["once"], ["a"])) == b"first"
        redis_proxy.drop_replies(1, after=b"EVALSHA")
        assert drive(transport.run(0, COUNT_ONCE, ["once"], ["b"])) == b"again"


def test_killed_connections_lose_and_double_nothing(redis_server: Server) -> None:
    tell(redis_server.port, "DEL", "once")
    with connected(redis_server.url) as transport, ThreadPoolExecutor(8) as threads:

        def work(name: int) -> None:
            for number in range(50):
                drive(transport.run(0, COUNT_ONCE, ["once"], [f"{name}.{number}"]))

        working = [threads.submit(work, name) for name in range(8)]
        killed = 0
        while not all(each.done() for each in working):
            killed += tell(redis_server.port, "CLIENT", "KILL", "TYPE", "normal")
        for each in working:
            each.result()
    assert killed > 0
    counts = tell(redis_server.port, "HVALS", "once")
    assert len(counts) == 400 and set(counts) == {"1"}


def test_a_call_survives_a_restart(redis_server: Server) -> None:
    with connected(redis_server.url) as transport:
        redis_server.kill()
        starting = threading.Timer(0.2, redis_server.start)
        starting.start()
        assert drive(transport.run(0, ONE, [], [])) == 1
        starting.join()


def test_a_silent_server_is_given_up(redis_server: Server) -> None:
    with connected(redis_server.url + "?timeout=0.2&patience=0.3") as transport:
        os.kill(redis_server.pid, signal.SIGSTOP)
        try:
            with pytest.raises(StoreUnavailable, match="did not answer"):
                drive(transport.run(0, ONE, [], []))
        finally:
            os.kill(redis_server.pid, signal.SIGCONT)
        assert drive(transport.run(0, ONE, [], [])) == 1


def test_a_call_that_was_interrupted_leaves_no_reply_for_the_next(redis_server: Server) -> None:
    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    former = signal.signal(signal.SIGALRM, interrupt)
    try:
        with connected(redis_server.url) as transport:
            signal.setitimer(signal.ITIMER_REAL, 0.1)
            with pytest.raises(KeyboardInterrupt):
                drive(transport.send(0, "BLPOP", "nothing", 2))
            assert drive(transport.run(0, ECHO, [], ["mine"])) == [b"0", b"mine"]
    finally:
        signal.signal(signal.SIGALRM, former)


def test_a_forked_child_uses_connections_of_its_own(redis_server: Server) -> None:
    with connected(redis_server.url) as transport:
        mine = drive(transport.send(None, "CLIENT", "ID"))
        child = os.fork()
        if child == 0:
            try:
                other = drive(transport.send(None, "CLIENT", "ID"))
                os._exit(0 if other != mine else 1)
            finally:
                os._exit(2)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
        assert drive(transport.send(None, "CLIENT", "ID")) == mine


def test_tls_and_a_user(redis_tls: Tls) -> None:
    with connected(f"{redis_tls.url}?ca={redis_tls.certificates.authority}") as transport:
        assert drive(transport.send(None, "ACL", "WHOAMI")) == b"windlass"
        value = os.urandom(5_000_000)
        assert drive(transport.run(0, ECHO, [], [value])) == [b"0", value]
    with (
        pytest.raises(StoreError, match="not trusted"),
        connected(redis_tls.url),
    ):
        pass


def test_a_cluster_and_sentinels_are_served_as_well(
    redis_cluster: Cluster, redis_sentinel: Sentinels
) -> None:
    with connected(redis_cluster.url) as transport:
        assert len(drive(transport.everywhere("PING"))) == 3
        for slot in (0, 8_000, 16_000):
            assert drive(transport.run(slot, ONE, [], [])) == 1
    with connected(redis_sentinel.url) as transport:
        assert drive(transport.send(None, "ROLE"))[0] == b"master"


def test_a_killed_master_is_replaced_by_the_one_that_sentinels_name(
    redis_sentinel: Sentinels,
) -> None:
    with connected(redis_sentinel.url + "?patience=30") as transport:
        former = redis_sentinel.master()
        former.kill()
        try:
            assert drive(transport.run(0, ONE, [], [])) == 1
            # One sentinel told us; most of them may hear of it a moment later.
            assert wait_until(lambda: redis_sentinel.master() is not former)
        finally:
            redis_sentinel.heal()


def test_it_cannot_listen_and_says_so(redis_server: Server) -> None:
    with connected(redis_server.url) as transport, pytest.raises(StoreError, match="cannot listen"):
        transport.listen("channel", lambda _: None)


def test_closing_ends_calls_to_come(redis_server: Server) -> None:
    with connected(redis_server.url) as transport:
        drive(transport.close())
        with pytest.raises(StoreError, match="closed"):
            drive(transport.run(0, ONE, [], []))
