"""A worker on Redis sleeps until it is woken, and wakes after whatever happened to the server."""

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable, Iterator

import pytest

from tests.servers import redis
from tests.servers.proxy import Proxy, forward
from tests.servers.redis import tell
from tests.servers.server import Server
from tests.stores.redis.outage import PROMISED, soonest, working
from tests.stores.redis.watch import counted
from tests.stores.site import end
from windlass import Windlass
from windlass.config import WorkerSettings
from windlass.core.ids import new_id
from windlass.stores.redis.listener import PULSE
from windlass.testing.faults import FaultyStore
from windlass.testing.work import until
from windlass.worker import fetcher, presence
from windlass.worker.fetcher import LONGEST_WAIT
from windlass.worker.worker import Worker

OUTAGE = 2.5
"""In seconds: longer than the shorter of the two patiences below, with its time-out."""

log = logging.getLogger(__name__)


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    """One that nobody else's jobs make slow to come back."""
    with redis.serve() as server:
        yield server


@pytest.fixture
def proxy(server: Server) -> Iterator[Proxy]:
    with forward(server.port) as proxy:
        yield proxy


async def restart(server: Server, proxy: Proxy) -> None:
    await asyncio.to_thread(server.stop)
    await asyncio.to_thread(server.start)


async def crash(server: Server, proxy: Proxy) -> None:
    await asyncio.to_thread(server.kill)
    await asyncio.to_thread(server.start)


async def kill_clients(server: Server, proxy: Proxy) -> None:
    for kind in ("normal", "pubsub"):
        # The listener may be just about to subscribe.
        await until(lambda: tell(server.port, "CLIENT", "KILL", "TYPE", kind) >= 1)  # noqa: B023


async def freeze(server: Server, proxy: Proxy) -> None:
    server.freeze()
    await asyncio.sleep(OUTAGE)
    server.thaw()


async def cut(server: Server, proxy: Proxy) -> None:
    proxy.cut()


async def silence(server: Server, proxy: Proxy) -> None:
    proxy.silence()
    await asyncio.sleep(OUTAGE)
    proxy.resume()


async def refuse(server: Server, proxy: Proxy) -> None:
    proxy.refuse()
    proxy.cut()
    await asyncio.sleep(OUTAGE)
    proxy.accept()


async def strand(server: Server, proxy: Proxy) -> None:
    proxy.strand()


Outage = Callable[[Server, Proxy], Awaitable[None]]
OUTAGES: dict[str, Outage] = {
    outage.__name__: outage
    for outage in (restart, crash, kill_clients, freeze, cut, silence, refuse, strand)
}


# Those that outlast the patience of a call, which then fails; and those that do not.
CASES = [(name, "") for name in OUTAGES] + [
    (name, "&timeout=1&patience=1") for name in ("silence", "refuse")
]


@pytest.mark.parametrize(("name", "options"), CASES)
async def test_a_worker_is_back_soon_after_the_server(
    name: str, options: str, server: Server, proxy: Proxy
) -> None:
    async def trial() -> float:
        async with working(proxy.through(server.url), server.url, options=options) as site:
            await site.enqueue(*(f"before-{n}" for n in range(20)))
            await OUTAGES[name](server, proxy)
            took = await site.proves_well(back=time.monotonic())
            await until(lambda: site.runs.total() == 20 + 3)
        log.info("the first job started %.3f s after %s was over", took, name)
        assert set(site.runs.values()) == {1}
        return took

    assert await soonest(trial) < PROMISED


async def test_an_idle_worker_is_woken_and_does_not_find_out_by_looking(server: Server) -> None:
    async with working(server.url, server.url) as site:
        for n in range(5):
            enqueued = time.monotonic()
            [job] = await site.enqueue(f"job-{n}")
            await job.aresult(timeout=20)
            assert site.started[f"job-{n}"] - enqueued < LONGEST_WAIT / 2


async def test_a_delayed_job_starts_at_its_time_though_nothing_else_happens(
    server: Server,
) -> None:
    async with working(server.url, server.url) as site:
        enqueued = time.monotonic()
        await site.enqueue("later", delay=0.7)
        await until(lambda: "later" in site.started)
        assert 0.69 <= site.started["later"] - enqueued < LONGEST_WAIT / 2


async def test_an_idle_worker_leaves_the_server_alone(
    server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    """But for its signs of life: whatever asked once a second would show."""
    monkeypatch.setattr(fetcher, "LONGEST_WAIT", 600.0)
    app = Windlass(f"{server.url}?namespace={new_id()}")
    store, connect = FaultyStore(await app.client.store()), app.client.private_store
    worker = Worker(app.registry, app.codecs, store, WorkerSettings(), connect=connect)
    await worker.start()
    await until(lambda: store.calls["wait"] == 1)
    began = time.monotonic()
    with counted(server.port) as calls:
        await asyncio.sleep(4)
    seconds = time.monotonic() - began
    log.info("idle for %.1f s: %s", seconds, calls)
    assert calls["evalsha"] <= 2 + seconds / presence.BEAT
    assert calls["ping"] <= 1 + seconds / PULSE
    await end(worker, app)
