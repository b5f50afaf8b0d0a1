"""Idle workers ask for work: often at first, then less, and never past a due time."""

import asyncio
import time
from collections.abc import Sequence

import pytest

from tests.servers.server import Server
from tests.stores.mysql.site import emptied, opened
from windlass.stores.mysql.watch import FIRST_NAP, LONGEST_NAP, Watch
from windlass.testing.jobs import claim, put


@pytest.fixture
def url(mariadb_server: Server) -> str:
    return emptied(mariadb_server.url)


class Looks:
    """Counts looks; there is no work until `answer` says so."""

    def __init__(self) -> None:
        self.times: list[float] = []
        self.answer: float | None = None

    async def __call__(self, queues: Sequence[str]) -> float | None:
        self.times.append(time.monotonic())
        return self.answer


async def test_looks_become_rarer_and_stay_bounded() -> None:
    looks = Looks()
    await Watch(looks).wait(["q"], 1.5)
    gaps = [b - a for a, b in zip(looks.times, looks.times[1:], strict=False)]
    assert all(gap >= FIRST_NAP * 0.9 for gap in gaps[:-1])
    assert max(gaps) >= LONGEST_NAP * 0.9
    assert len(looks.times) < 30


async def test_a_write_of_this_process_ends_the_wait_at_once(url: str) -> None:
    async with opened(url) as store:
        waiting = asyncio.create_task(store.wait(["default"], 60))
        await asyncio.sleep(LONGEST_NAP)
        await put(store, "a")
        async with asyncio.timeout(20):
            await waiting


async def test_a_write_of_another_process_is_found_soon(url: str) -> None:
    async with opened(url) as store, opened(url) as other:
        for queues in (["default"], []):
            waiting = asyncio.create_task(store.wait(queues, 60))
            await asyncio.sleep(2 * LONGEST_NAP)
            assert not waiting.done()
            await put(other, f"a-{len(queues)}")
            async with asyncio.timeout(20):
                await waiting
            assert len(await claim(store)) == 1


async def test_a_due_time_ends_the_wait(url: str) -> None:
    async with opened(url) as store, opened(url) as other:
        await put(other, "later", delay=300)
        async with asyncio.timeout(20):
            while not await claim(store):
                await store.wait(["default"], 60)


async def test_what_is_paused_wakes_nobody(url: str) -> None:
    async with opened(url) as store:
        await store.pause("default")
        await put(store, "a")
        began = time.monotonic()
        await store.wait(["default"], 0.3)
        assert time.monotonic() - began >= 0.29
