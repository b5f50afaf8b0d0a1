"""A worker that freezes while a fetch of it is under way: that fetch is no sign of life."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from grpc import aio

from tests.app.engines import url_of
from tests.server.conftest import Serve
from tests.server.grpc.client import Client
from tests.server.http_worker import HttpWorker, stands, until
from tests.server.serving import Served
from windlass import Windlass
from windlass.core.model import Job, Spec
from windlass.core.states import State
from windlass.scheduler.leader import Leader
from windlass.scheduler.rescuer import Rescuer
from windlass.server.leases import FEW, OLD, Leases
from windlass.task import Registry

Fetch = Callable[..., Awaitable[list[str]]]
"""Fetches by one of the APIs, as a worker; the ids of the jobs."""


@pytest.fixture(params=["sqlite", "redis", "postgres", "mariadb"])
async def app(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Windlass]:
    app = Windlass(url_of(request, tmp_path))
    yield app
    await app.aclose()


@pytest.fixture
async def api(app: Windlass, serve: Serve) -> Served:
    return await serve(app, has_tasks=False, grpc_port=0)


@pytest.fixture(params=["http", "grpc"])
async def fetch(request: pytest.FixtureRequest, api: Served) -> AsyncIterator[Fetch]:
    async with aio.insecure_channel(f"127.0.0.1:{api.server.grpc_port}") as channel:
        client = Client(channel)

        async def by_grpc(name: str, wait: float = 0, lease: float = 30) -> list[str]:
            times = {"wait_ms": int(wait * 1000), "lease_ms": int(lease * 1000)}
            return [job.id for job in await client.fetch(worker=name, **times)]

        async def by_http(name: str, wait: float = 0, lease: float = 30) -> list[str]:
            jobs = await HttpWorker(api, name).fetch(wait=wait, lease=lease)
            return [job["id"] for job in jobs]

        yield by_grpc if request.param == "grpc" else by_http


async def rescue(api: Served) -> None:
    """Rescue a job, as a server does that sees to upkeep."""
    rescuer = Rescuer(api.store, Registry(), Leader(api.store, "test"), 1.0, "test")
    await until(rescuer.rescue)


async def test_a_frozen_worker_gets_nothing_by_the_fetch_that_it_has_under_way(
    api: Served, fetch: Fetch
) -> None:
    await api.enqueue("t", id="first", max_retries=1)
    assert await fetch("frozen", lease=1) == ["first"]
    # From here on it says nothing. What it had asked for comes first in line.
    under_way = asyncio.ensure_future(fetch("frozen", wait=14))
    await stands(api, 1)
    lives = asyncio.ensure_future(fetch("lives", wait=14))
    await stands(api, 2)
    await rescue(api)
    assert await lives == ["first"]
    assert await under_way == []
    job = (await api.store.get(["first"]))["first"]
    assert (job.worker, job.lost, job.attempt) == ("lives", 1, 1)

    # Once it asks again it is there again.
    await api.enqueue("t", id="second")
    assert await fetch("frozen") == ["second"]


@pytest.mark.parametrize("app", ["memory"], indirect=True)
async def test_other_jobs_are_not_lost_by_a_frozen_worker_either(api: Served, fetch: Fetch) -> None:
    await api.enqueue("t", id="first")
    assert await fetch("frozen", lease=1) == ["first"]
    under_way = asyncio.ensure_future(fetch("frozen", wait=14))
    await stands(api, 1)
    # Somebody who claims from the store itself was quicker.
    await until(lambda: api.store.rescue(1, 60_000, "quicker"))
    await api.enqueue("t", id="second", max_retries=0)
    assert await under_way == []
    assert await fetch("lives") == ["second"]


@pytest.mark.parametrize("app", ["memory"], indirect=True)
async def test_nor_by_a_claim_during_which_its_lease_runs_out(
    api: Served, fetch: Fetch, monkeypatch: pytest.MonkeyPatch
) -> None:
    await api.enqueue("t", id="first")
    assert await fetch("frozen", lease=1) == ["first"]
    under_way = asyncio.ensure_future(fetch("frozen", wait=14))
    await stands(api, 1)
    claim = api.store.claim

    async def claim_late(*args: Any) -> Any:
        await rescue(api)
        return await claim(*args)

    with monkeypatch.context() as patch:
        patch.setattr(api.store, "claim", claim_late)
        await api.enqueue("t", id="second", max_retries=0)
        assert await under_way == []
    got: list[str] = []
    while len(got) < 2:
        got += await fetch("lives", wait=14)
    assert sorted(got) == ["first", "second"]
    found = await api.store.get(got)
    assert {job.worker for job in found.values()} == {"lives"}
    assert (found["first"].lost, found["second"].lost) == (1, 0)


@pytest.mark.parametrize("app", ["memory"], indirect=True)
async def test_a_worker_waits_for_half_of_its_lease_at_most(api: Served, fetch: Fetch) -> None:
    """Whatever server it asks: what it was frozen on is lost to it only after that."""
    async with asyncio.timeout(10):
        assert await fetch("w", wait=14, lease=1) == []


class Clock:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def job(id: str) -> Job:
    return Job(id, Spec("t", b""), "default", State.ACTIVE, 50, 0, 0)


W, OTHER = ("key", "w"), ("another key", "w")


def test_a_lease_is_known_until_the_worker_is_done_or_asks_again() -> None:
    clock = Clock()
    leases = Leases(clock)
    leases.hand_out([job("a"), job("b")], W, 1_000, leases.now())
    leases.extend(["b"], 5_000, leases.now())
    clock.now = 2
    assert leases.is_lost(W)
    leases.hand_out([job("a")], OTHER, 1_000, leases.now())
    assert leases.is_lost(W)
    leases.hear_of(W)
    assert not leases.is_lost(W)
    leases.end(["a"])
    clock.now = 6
    assert (leases.is_lost(W), leases.is_lost(OTHER)) == (True, False)
    leases.end(["b", "unknown"])
    assert not leases.is_lost(W)


def test_workers_that_never_come_back_are_forgotten() -> None:
    clock: Any = Clock()
    leases = Leases(clock)
    for n in range(3 * FEW):
        leases.hand_out([job(f"{n}")], ("key", f"worker-{n}"), 1_000, leases.now())
        clock.now += OLD / FEW
    assert len(leases._ends) == len(leases._worker_of) < 3 * FEW
    leases.hand_out([], ("key", "idle"), 1_000, leases.now())
    assert ("key", "idle") not in leases._ends
