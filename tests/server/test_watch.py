"""One look at the store for all who wait."""

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence

import pytest

from windlass.core.ids import new_id
from windlass.core.model import Job, NewJob, Spec
from windlass.errors import StoreUnavailable
from windlass.server.watch import Watcher, mark_of
from windlass.stores.memory import MemoryStore
from windlass.testing.work import until


class Counted(MemoryStore):
    """Counts how often it is looked at, and may be away."""

    def __init__(self) -> None:
        super().__init__()
        self.looks: list[Sequence[str]] = []
        self.away = False

    async def get(self, ids: Sequence[str]) -> Mapping[str, Job]:
        self.looks.append(ids)
        if self.away:
            raise StoreUnavailable("gone")
        return await super().get(ids)

    async def add(self) -> str:
        id = new_id()
        await self.insert([NewJob(id, Spec("x", b""))])
        return id


@pytest.fixture
def store() -> Counted:
    return Counted()


@pytest.fixture
async def watcher(store: Counted) -> AsyncIterator[Watcher]:
    watcher = Watcher(store)
    watcher.start()
    yield watcher
    await watcher.stop()


async def test_who_waits_gets_the_job_as_soon_as_it_has_ended(
    watcher: Watcher, store: Counted
) -> None:
    id = await store.add()
    waiting = asyncio.create_task(watcher.end(id, 60))
    await until(lambda: len(store.looks) > 2)
    assert not waiting.done()
    await store.cancel([id])
    job = await waiting
    assert job is not None and job.state == "cancelled"
    assert not watcher._watched


async def test_a_job_that_has_ended_or_is_not_there_is_not_waited_for(
    watcher: Watcher, store: Counted
) -> None:
    id = await store.add()
    await store.cancel([id])
    job = await watcher.end(id, 60)
    assert job is not None and job.id == id
    assert await watcher.end("nobody", 60) is None
    assert len(store.looks) == 2


async def test_time_is_up_when_it_is(watcher: Watcher, store: Counted) -> None:
    id = await store.add()
    job = await watcher.end(id, 0.03)
    assert job is not None and job.state == "pending"
    assert not watcher._watched


async def test_many_who_wait_for_one_share_each_look(watcher: Watcher, store: Counted) -> None:
    id = await store.add()
    waiting = [asyncio.create_task(watcher.end(id, 60)) for _ in range(100)]
    await until(lambda: len(store.looks) >= 105)
    assert store.looks[-1] == [id]
    await store.cancel([id])
    assert {job.state for job in await asyncio.gather(*waiting) if job} == {"cancelled"}


async def test_looks_at_many_are_gathered(watcher: Watcher, store: Counted) -> None:
    ids = [await store.add() for _ in range(50)]
    waiting = [asyncio.create_task(watcher.end(id, 60)) for id in ids]
    await until(lambda: len(store.looks) >= 52)
    assert max(len(look) for look in store.looks[50:]) > 10
    await store.cancel(ids)
    await asyncio.gather(*waiting)


async def test_one_who_comes_again_and_again_is_looked_at_no_more_often(
    watcher: Watcher, store: Counted
) -> None:
    id = await store.add()
    known = mark_of((await store.get([id]))[id])
    for _ in range(200):
        task = asyncio.create_task(watcher.change(id, known, 60))
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
    waiting = asyncio.create_task(watcher.change(id, known, 60))
    await until(lambda: len(watcher._due) < 5)
    await store.reschedule([id], 60_000)
    job = await waiting
    assert job is not None and job.state == "scheduled"


async def test_a_newcomer_does_not_wait_for_the_next_look_at_others(
    watcher: Watcher, store: Counted
) -> None:
    old = await store.add()
    patient = asyncio.create_task(watcher.end(old, 60))
    await until(lambda: watcher._watched.get(old) is not None)
    watcher._watched[old].pause = 30.0
    await until(lambda: watcher._watched[old].due > asyncio.get_running_loop().time() + 20)
    new = await store.add()
    quick = asyncio.create_task(watcher.end(new, 60))
    await until(lambda: new in watcher._watched)
    await store.cancel([new])
    assert await asyncio.wait_for(quick, 10) is not None
    patient.cancel()
    await asyncio.gather(patient, return_exceptions=True)


async def test_an_outage_is_sat_out(watcher: Watcher, store: Counted) -> None:
    id = await store.add()
    waiting = asyncio.create_task(watcher.end(id, 60))
    await until(lambda: id in watcher._watched)
    store.away = True
    looks = len(store.looks)
    await until(lambda: len(store.looks) > looks + 1)
    store.away = False
    await store.cancel([id])
    assert await waiting is not None


async def test_several_jobs_are_waited_for_at_once(watcher: Watcher, store: Counted) -> None:
    ids = [await store.add() for _ in range(3)]
    known = {id: mark_of(job) for id, job in (await store.get(ids)).items()}
    waiting = asyncio.create_task(watcher.changes(known, 60))
    await until(lambda: len(watcher._watched) == 3)
    await store.cancel([ids[1]])
    news = await waiting
    assert {id: job.state for id, job in news.items() if job} == {ids[1]: "cancelled"}
    assert not watcher._watched
    assert await watcher.changes(known | {ids[1]: mark_of(news[ids[1]])}, 0.01) == {}


async def test_at_the_end_everybody_gets_the_job_as_it_is(watcher: Watcher, store: Counted) -> None:
    id = await store.add()
    known = mark_of((await store.get([id]))[id])
    tasks = [
        asyncio.create_task(watcher.end(id, 60)),
        asyncio.create_task(watcher.change(id, known, 60)),
        asyncio.create_task(watcher.changes({id: known}, 60)),
    ]
    await until(lambda: id in watcher._watched and len(watcher._watched[id].waiting) == 3)
    watcher.release()
    first, second, third = await asyncio.gather(*tasks)
    assert isinstance(first, Job) and isinstance(second, Job)
    assert third == {}
    late = await watcher.end(id, 60)
    assert late is not None and late.state == "pending"
