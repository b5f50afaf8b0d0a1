"""Connections that lead to nobody, and a server that does not answer."""

import asyncio
import time

import pytest

from tests.servers.proxy import Proxy
from tests.servers.server import Server
from tests.stores.postgres.site import emptied, opened, sleeping
from windlass import Windlass
from windlass.errors import InvalidOption, StoreUnavailable
from windlass.stores.postgres.url import parse
from windlass.testing.jobs import new_job

CALLERS = 300


@pytest.fixture
def through(postgres_server: Server, postgres_proxy: Proxy) -> str:
    return postgres_proxy.through(emptied(postgres_server.url))


async def test_connections_that_have_gone_silent_cost_one_wait(
    through: str, postgres_proxy: Proxy
) -> None:
    """As after a failover, or where a firewall has forgotten them."""
    async with opened(f"{through}&timeout=1&patience=0.5") as store:
        await asyncio.gather(*(store.now() for _ in range(20)))
        pool = store._base._pool
        assert pool is not None and len(pool._idle) == 5
        postgres_proxy.strand()
        stranded = {connection.raw for connection in pool._idle}
        await store.insert([new_job("a", fresh=True)])
        # None of the others is tried, each of which would take a second.
        assert not stranded & {connection.raw for connection in pool._idle}
        await store.insert([new_job("b", fresh=True)])


async def test_a_stall_below_the_limit_costs_no_connection(
    through: str, postgres_proxy: Proxy, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("windlass.stores.postgres.listener.PULSE", 0.05)
    async with opened(f"{through}&timeout=30") as store:
        waiting = await sleeping(store)
        before = postgres_proxy.counts.connections
        postgres_proxy.silence()
        insert = asyncio.create_task(store.insert([new_job("a", fresh=True)]))
        await asyncio.sleep(0.5)
        postgres_proxy.resume()
        await insert
        await asyncio.wait_for(waiting, 30)
        # The one more is that of the insert beside the look of who waits.
        assert postgres_proxy.counts.connections - before <= 1


async def test_everybody_learns_at_once_that_the_server_hangs(
    through: str, postgres_proxy: Proxy
) -> None:
    app = Windlass(f"{through}&timeout=0.5&connect_timeout=0.5&patience=0.5")

    @app.task
    async def job(n: int) -> None: ...

    await job.aenqueue(0)
    postgres_proxy.silence()
    began = time.monotonic()
    calls = [job.aenqueue(n) for n in range(CALLERS)]
    said = await asyncio.gather(*calls, return_exceptions=True)
    assert time.monotonic() - began < 20
    assert {type(each) for each in said} == {StoreUnavailable}
    await let_go(postgres_proxy)
    await app.aclose()


async def let_go(proxy: Proxy) -> None:
    """Let the driver hear of the end of what it has given up."""
    proxy.cut()
    proxy.resume()
    await asyncio.sleep(0.2)


async def test_connecting_has_a_limit_of_its_own(through: str, postgres_proxy: Proxy) -> None:
    async with opened(through):
        postgres_proxy.silence()
        later = opened(f"{through}&timeout=600&connect_timeout=0.2&patience=0.2")
        with pytest.raises(StoreUnavailable):
            await asyncio.wait_for(later.__aenter__(), 30)
        await let_go(postgres_proxy)


def test_the_limits_in_a_url() -> None:
    assert parse("postgresql://h/d").connect_timeout == 5
    assert parse("postgresql://h/d?timeout=2").connect_timeout == 2
    assert parse("postgresql://h/d?connect_timeout=20").connect_timeout == 20
    with pytest.raises(InvalidOption):
        parse("postgresql://h/d?connect_timeout=never")
