"""A user's transaction that stays open, at the server's default isolation, blocks nobody else."""

import asyncio
from collections.abc import Coroutine, Mapping, Sequence
from itertools import count
from typing import Any

import pytest

from tests.servers.server import Server
from tests.stores.mysql.site import fresh, opened
from tests.stores.mysql.user import begun
from windlass.core.ids import new_id
from windlass.core.lane import Lane
from windlass.core.model import Job, NewJob, Receipt, Spec, Transition
from windlass.core.states import State
from windlass.errors import InvalidOption, UnknownJob
from windlass.stores.guest.mysql import AsyncmyGuest
from windlass.stores.mysql.store import MysqlStore
from windlass.testing.jobs import bring, claim, counts, ids, job_of, new_job, put, state_of

WORK = Spec("work", b"")
KEPT = Spec("work", b"", keep=600_000)
WINDOW = Spec("work", b"", unique_for=60_000)

_serial = count()

LONG = 5.0
"""Seconds that are less than a statement waits for a lock."""


def lane(name: str, **limits: Any) -> Spec:
    return Spec("work", b"", lane=Lane(name, **(limits or {"slots": 1})))


def fresh_job(spec: Spec = WORK, **options: Any) -> NewJob:
    return new_job(new_id(), spec, fresh=True, **options)


def inside(m: str) -> Mapping[str, NewJob]:
    """What a user's transaction has in it; `m` is how the names begin."""
    return {
        "plain": fresh_job(),
        "id": new_job(f"{m}-own"),
        "id that is live": new_job(f"{m}-live"),
        "id that is finished": new_job(f"{m}-finished"),
        "key": fresh_job(unique=m),
        "id and key": new_job(f"{m}-own", unique=m),
        "key that is held": fresh_job(unique=f"{m}-held"),
        "key that a window holds": fresh_job(unique=f"{m}-window"),
        "window": fresh_job(WINDOW, unique=m),
        "window and held key": fresh_job(WINDOW, unique=f"{m}-held"),
        "free key to replace": fresh_job(unique=m, conflict="replace"),
        "held key to replace": fresh_job(unique=f"{m}-held", conflict="replace"),
        "window to replace": fresh_job(WINDOW, unique=f"{m}-window", conflict="replace"),
        "free key to follow": fresh_job(unique=m, conflict="last"),
        "key of a running job": fresh_job(unique=f"{m}-running"),
        "parent that is live": fresh_job(Spec("work", b"", parents=(f"{m}-live",))),
        "parent that is finished": fresh_job(Spec("work", b"", parents=(f"{m}-finished",))),
        "lane": fresh_job(lane(m)),
        "lane with a rate": fresh_job(lane(m, starts=5, per=1_000)),
        "group": fresh_job(Spec("work", b"", group=m), queue=m),
    }


def outside(m: str) -> Mapping[str, NewJob]:
    """What others enqueue meanwhile: names before those, just before them, and behind."""
    return {
        "plain": fresh_job(),
        "first id": new_job(f"0{m}"),
        "id before": new_job(f"{m}-a"),
        "id behind": new_job(f"z{m}"),
        "key before": fresh_job(unique=f"a{m}"),
        "key just before": fresh_job(unique=f"{m}-a"),
        "key behind": fresh_job(unique=f"z{m}"),
        "window before": fresh_job(WINDOW, unique=f"a-{m}-window"),
        "window just before": fresh_job(WINDOW, unique=f"{m}-a-window"),
        "window behind": fresh_job(WINDOW, unique=f"z-{m}-window"),
        "replace": fresh_job(unique=f"{m}-b", conflict="replace"),
        "parent": fresh_job(Spec("work", b"", parents=(f"{m}-other",))),
        "lane before": fresh_job(lane(f"{m}-")),
        "lane behind": fresh_job(lane("z"), queue=f"z{m}"),
        "group before": fresh_job(Spec("work", b"", group="z"), queue=f"{m}-"),
        "group behind": fresh_job(Spec("work", b"", group="z"), queue=f"z{m}"),
    }


@pytest.fixture(scope="module")
def url(mariadb_server: Server) -> str:
    # Rows that were deleted may still be locked: each test has names of its own.
    return fresh(mariadb_server.url)


@pytest.mark.parametrize("name", inside(""))
async def test_others_enqueue_claim_and_finish_meanwhile(url: str, name: str) -> None:
    m = f"m{next(_serial)}"
    async with opened(url) as store:
        running = await _prepared(store, m)
        async with begun(url) as connection:
            guest = AsyncmyGuest(connection)
            [receipt] = await guest.perform(store.dialect, store.inserting([inside(m)[name]]))
            calls = {name: store.insert([job]) for name, job in outside(m).items()}
            blocked = await _blocked(
                {"finish": _finish(store, running), "claim": claim(store, 1), **calls}
            )
            assert blocked == []
            await connection.commit()
        assert receipt.id in await store.get([receipt.id])


async def _prepared(store: MysqlStore, m: str) -> list[Job]:
    """Jobs that a user's transaction may meet; those that others are running."""
    await bring(store, f"{m}-finished", State.COMPLETED, spec=KEPT, queue=f"{m}-done")
    await bring(store, f"{m}-running", State.ACTIVE, unique=f"{m}-running", queue=f"{m}-r")
    await put(store, f"b{m}", new_id(), f"n{m}", spec=KEPT, queue=f"{m}-r")
    running = await claim(store, 3, queue=f"{m}-r")
    await put(store, f"{m}-live", f"{m}-other")
    await put(store, f"{m}-1", unique=f"{m}-held")
    await put(store, f"{m}-2", spec=WINDOW, unique=f"{m}-window")
    return running


async def _finish(store: MysqlStore, jobs: Sequence[Job]) -> None:
    ends = [Transition(job.id, job.fence, State.COMPLETED, ref=job.ref) for job in jobs]
    assert await store.finish(ends) == {job.id for job in jobs}


async def _blocked(calls: Mapping[str, Coroutine[Any, Any, object]]) -> list[str]:
    """The names of those that are not done in time."""
    tasks = {name: asyncio.create_task(call) for name, call in calls.items()}
    done, late = await asyncio.wait(tasks.values(), timeout=LONG)
    for task in late:
        task.cancel()
    await asyncio.gather(*late, return_exceptions=True)
    for task in done:
        await task
    return [name for name, task in tasks.items() if task in late]


async def test_what_came_since_its_beginning_is_found_all_the_same(url: str) -> None:
    m = f"m{next(_serial)}"
    async with opened(url) as store, begun(url) as connection:
        async with connection.cursor() as cursor:
            await cursor.execute("START TRANSACTION WITH CONSISTENT SNAPSHOT")
        await bring(store, f"{m}-done", State.COMPLETED, spec=KEPT, queue=f"{m}-q")
        await put(store, f"{m}-live", unique=m)
        await put(store, f"{m}-window", spec=WINDOW, unique=f"{m}-w")
        guest = AsyncmyGuest(connection)

        async def enqueue(*jobs: NewJob) -> Sequence[Receipt]:
            return await guest.perform(store.dialect, store.inserting(jobs))

        assert await enqueue(new_job(f"{m}-done"), new_job(f"{m}-live")) == [
            Receipt(f"{m}-done", duplicate=True),
            Receipt(f"{m}-live", duplicate=True),
        ]
        by_key = [fresh_job(unique=m), fresh_job(WINDOW, unique=f"{m}-w")]
        assert await enqueue(*by_key) == [
            Receipt(f"{m}-live", duplicate=True),
            Receipt(f"{m}-window", duplicate=True),
        ]
        [replaced] = await enqueue(fresh_job(unique=m, priority=80, conflict="replace"))
        assert replaced == Receipt(f"{m}-live", duplicate=True)
        children = [
            fresh_job(Spec("work", b"", parents=(f"{m}-{parent}",))) for parent in ("done", "live")
        ]
        assert [each.duplicate for each in await enqueue(*children)] == [False, False]
        with pytest.raises(UnknownJob):
            await enqueue(fresh_job(Spec("work", b"", parents=(f"{m}-none",))))
        await connection.commit()
        assert [await state_of(store, job.id) for job in children] == [
            State.PENDING,
            State.BLOCKED,
        ]
        assert (await job_of(store, f"{m}-live")).priority == 80
        assert await counts(store, f"{m}-q") == {State.COMPLETED: 1}
        assert await state_of(store, f"{m}-none") is None


async def test_jobs_of_groups_are_claimed_while_one_more_is_enqueued(url: str) -> None:
    m = f"m{next(_serial)}"
    grouped = Spec("work", b"", group="g")
    async with opened(url) as store, begun(url) as connection:
        await put(store, f"{m}-1", f"{m}-2", spec=grouped, queue=m)
        guest = AsyncmyGuest(connection)
        await guest.perform(store.dialect, store.inserting([fresh_job(grouped, queue=m)]))
        async with asyncio.timeout(LONG):
            assert ids(await claim(store, 2, queue=m)) == [f"{m}-1", f"{m}-2"]


async def test_a_transaction_that_would_block_others_is_refused(url: str) -> None:
    level = "SET SESSION TRANSACTION ISOLATION LEVEL SERIALIZABLE"
    async with opened(url) as store, begun(url, init_command=level) as connection:
        with pytest.raises(InvalidOption, match="is at SERIALIZABLE"):
            await AsyncmyGuest(connection).perform(store.dialect, store.inserting([fresh_job()]))
