"""A server that says nothing, and the limits that a URL sets."""

import asyncio
import time

import pytest

from tests.servers.proxy import Proxy
from tests.servers.server import Server
from tests.stores.mysql.site import emptied, opened
from windlass import Windlass
from windlass.errors import InvalidOption, StoreUnavailable
from windlass.stores.mysql import pool
from windlass.stores.mysql.url import parse
from windlass.testing.jobs import new_job

CALLERS = 300


@pytest.fixture
def through(mariadb_server: Server, mariadb_proxy: Proxy) -> str:
    return mariadb_proxy.through(emptied(mariadb_server.url))


async def test_everybody_learns_at_once_that_the_server_hangs(
    through: str, mariadb_proxy: Proxy
) -> None:
    app = Windlass(f"{through}&timeout=1&connect_timeout=0.5&patience=0.5")

    @app.task
    async def job(n: int) -> None: ...

    await job.aenqueue(0)
    mariadb_proxy.silence()
    began = time.monotonic()
    calls = [job.aenqueue(n) for n in range(CALLERS)]
    said = await asyncio.gather(*calls, return_exceptions=True)
    assert time.monotonic() - began < 20
    assert {type(each) for each in said} == {StoreUnavailable}
    mariadb_proxy.resume()
    await app.aclose()


async def test_connections_that_have_gone_silent_cost_one_short_wait(
    through: str, mariadb_proxy: Proxy, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As after a failover, or where a firewall has forgotten them."""
    monkeypatch.setattr(pool, "LONG_IDLE", 0.0)
    async with opened(f"{through}&timeout=600&connect_timeout=0.5&patience=0.1") as store:
        await asyncio.gather(*(store.now() for _ in range(8)))
        mariadb_proxy.strand()
        async with asyncio.timeout(20):
            for n in range(8):
                await store.insert([new_job(f"job-{n}", fresh=True)])


async def test_connecting_has_a_limit_of_its_own(through: str, mariadb_proxy: Proxy) -> None:
    async with opened(through):
        mariadb_proxy.silence()
        later = opened(f"{through}&timeout=600&connect_timeout=0.2&patience=0.2")
        with pytest.raises(StoreUnavailable):
            await asyncio.wait_for(later.__aenter__(), 30)
        mariadb_proxy.resume()


def test_the_limits_in_a_url() -> None:
    assert parse("mysql://me@h/d").connect_timeout == 5
    assert parse("mysql://me@h/d?timeout=2").connect_timeout == 2
    assert parse("mysql://me@h/d?connect_timeout=20").connect_timeout == 20
    with pytest.raises(InvalidOption):
        parse("mysql://me@h/d?connect_timeout=never")
