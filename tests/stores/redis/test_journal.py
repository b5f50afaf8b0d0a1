"""The journal on Redis: written once though a call is sent twice, even by a full server."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from tests.servers.proxy import Proxy
from tests.servers.redis import tell
from tests.servers.redis_cluster import Cluster
from tests.servers.server import Server
from tests.stores.redis.outage import opened
from tests.stores.redis.test_partial_outage import Sides, outage
from tests.stores.redis.watch import contents, counted, fresh
from windlass.core.ids import new_id
from windlass.core.model import Job, Transition
from windlass.core.states import State
from windlass.stores.contract import Store
from windlass.testing.jobs import BOOM, FLEETING, bring, claim, finish, ids, put

Step = Callable[[Store, list[Job]], Awaitable[Any]]


async def complete(store: Store, jobs: list[Job]) -> Any:
    return await store.finish([move(job, State.COMPLETED) for job in jobs])


async def fail(store: Store, jobs: list[Job]) -> Any:
    return await store.finish([move(job, State.RETRY) for job in jobs])


async def cancel(store: Store, jobs: list[Job]) -> Any:
    return await store.cancel([*ids(jobs), "waiting"])


def move(job: Job, state: State) -> Transition:
    return Transition(job.id, job.fence, state, delay=60_000, queue=job.queue, ref=job.ref)


async def claimed(store: Store) -> list[Job]:
    await store.keep_journal(True)
    await put(store, "kept")
    await put(store, "gone", spec=FLEETING)
    await put(store, "waiting", delay=60_000)
    return await claim(store)


@pytest.mark.parametrize("step", [complete, fail, cancel])
async def test_a_call_that_had_to_be_repeated_notes_once(
    step: Step, redis_server: Server, redis_proxy: Proxy
) -> None:
    async with opened(redis_server.url, new_id()) as store:
        # So that the server knows the script: what will be lost is the reply to a deed.
        await step(store, await claimed(store))
        expected = {entry.job.id for entry in await store.read_journal(100)}
    space = new_id()
    async with (
        opened(redis_server.url, space) as direct,
        opened(redis_proxy.through(redis_server.url), space) as store,
    ):
        jobs = await claimed(direct)
        redis_proxy.drop_replies(2, after=b"EVALSHA")
        assert await step(store, jobs) == expected
        assert redis_proxy.counts.dropped == 2
        entries = await direct.read_journal(100)
        assert sorted(ids([entry.job for entry in entries])) == sorted(expected)


async def test_a_trim_that_had_to_be_repeated_takes_no_more(
    redis_server: Server, redis_proxy: Proxy
) -> None:
    space = new_id()
    async with (
        opened(redis_server.url, space) as direct,
        opened(redis_proxy.through(redis_server.url), space) as store,
    ):
        await store.keep_journal(True)
        await bring(store, "a", State.COMPLETED)
        entries = await store.read_journal(100)
        await store.trim_journal(entries)
        await bring(direct, "b", State.COMPLETED)
        redis_proxy.drop_replies(1, after=b"EVALSHA")
        await store.trim_journal(entries)
        assert [entry.job.id for entry in await direct.read_journal(100)] == ["b"]


@pytest.mark.parametrize("name", ["redis_server", "redis_old", "valkey_server"])
async def test_a_full_server_still_notes_what_ends(
    name: str, request: pytest.FixtureRequest
) -> None:
    server: Server = request.getfixturevalue(name)
    async with opened(server.url, new_id()) as store:
        jobs = await claimed(store)
        await put(store, "a")
        [other] = await claim(store)
        tell(server.port, "CONFIG", "SET", "maxmemory", "1")
        try:
            assert await complete(store, jobs) == {"kept", "gone"}
            assert await finish(store, other, State.DEAD, error=BOOM)
            assert await store.cancel(["waiting"]) == {"waiting"}
            entries = await store.read_journal(100)
            assert sorted(ids([entry.job for entry in entries])) == ["a", "gone", "kept", "waiting"]
            await store.trim_journal(entries)
        finally:
            tell(server.port, "CONFIG", "SET", "maxmemory", "0")
        assert list(await store.read_journal(100)) == []


async def test_an_empty_journal_takes_no_key(redis_server: Server) -> None:
    space = new_id()
    async with opened(redis_server.url, space) as store:
        await complete(store, await claimed(store))
        journal = f"{space}:{{0}}:journal".encode()
        assert journal in contents(redis_server.port, space)
        await store.trim_journal(await store.read_journal(100))
        assert journal not in contents(redis_server.port, space)


async def test_off_it_costs_one_look_for_a_batch(redis_server: Server) -> None:
    async with opened(redis_server.url, new_id()) as store:
        await put(store, *(f"job-{n}" for n in range(100)))
        jobs = await claim(store)
        with counted(redis_server.port) as commands:
            await complete(store, jobs)
    assert commands["hexists"] <= 2  # of these one asks whether the queue is paused
    assert commands["xadd"] == 0


async def test_what_is_on_a_master_that_is_down_comes_when_it_is_back(
    redis_cluster: Cluster,
) -> None:
    async with fresh(redis_cluster.url, patience="1", timeout="1") as store:
        await store.keep_journal(True)
        sides = Sides(store, redis_cluster)
        for queue in (sides.gone[0], sides.there[0]):
            await put(store, queue, queue=queue)
            await complete(store, await claim(store, queue=queue))
        async with outage(redis_cluster):
            entries = await store.read_journal(100)
            assert [entry.job.id for entry in entries] == [sides.there[0]]
            await store.trim_journal(entries)
        async with asyncio.timeout(60):
            while not (entries := await store.read_journal(100)):
                await asyncio.sleep(0.05)
        assert [entry.job.id for entry in entries] == [sides.gone[0]]
