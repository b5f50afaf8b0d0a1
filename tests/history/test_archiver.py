"""From the journal of a store into history: nothing is missed, nothing is there twice."""

import asyncio
import os
import signal
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from tests.history.engines import line
from windlass.config import HistorySettings
from windlass.core.ids import new_id
from windlass.core.model import Entry, Spec, Transition
from windlass.core.states import State
from windlass.errors import StoreError, StoreUnavailable
from windlass.history.archive import Archive
from windlass.history.open import open_archive
from windlass.history.query import HistoryQuery
from windlass.scheduler.archiver import PRUNE_BATCH, Archiver
from windlass.scheduler.handover import BATCH
from windlass.scheduler.leader import Leader
from windlass.stores.contract import Store
from windlass.stores.memory import MemoryStore
from windlass.stores.open import open_store
from windlass.sync import drive
from windlass.testing.clock import FakeClock
from windlass.testing.faults import FaultyStore
from windlass.testing.jobs import FLEETING, claim_all, new_job
from windlass.testing.work import until


@pytest.fixture
async def store(clock: FakeClock) -> Store:
    store = MemoryStore(clock)
    await store.keep_journal(True)
    return store


class Outage(Archive):
    """A database that is away for a while."""

    def __init__(self, archive: Archive) -> None:
        super().__init__(archive._database)
        self.down = False
        self.tries = 0

    async def keep(self, entries: Sequence[Entry]) -> None:
        self.tries += 1
        if self.down:
            raise StoreUnavailable("the database does not answer (injected)")
        await super().keep(entries)


class Picky(Archive):
    """A database that takes no large jobs."""

    async def keep(self, entries: Sequence[Entry]) -> None:
        if any(len(entry.job.spec.payload) > 100 for entry in entries):
            raise StoreError("too large (injected)")
        await super().keep(entries)


class Follower(Leader):
    """One who never leads, and counts how often that is asked."""

    asked = 0

    @property
    def is_leader(self) -> bool:
        self.asked += 1
        return False

    @is_leader.setter
    def is_leader(self, value: bool) -> None:
        pass


def archiver(store: Store, archive: Archive, **settings: Any) -> Archiver:
    leader = Leader(store, "test", "history")
    leader.is_leader = True
    return Archiver(store, archive, leader, HistorySettings(**{"interval": 0.01, **settings}))


async def run_jobs(store: Store, number: int, spec: Spec = FLEETING) -> set[str]:
    names = [new_id() for _ in range(number)]
    await store.insert([new_job(name, spec) for name in names])
    jobs = await claim_all(store)
    await store.finish([Transition(job.id, job.fence, State.COMPLETED, ref=1) for job in jobs])
    return set(names)


async def found(archive: Archive) -> list[str]:
    query, names = HistoryQuery(limit=1_000), []
    while True:
        page = await archive.find(query)
        names += [job.id for job in page.jobs]
        if page.cursor is None:
            return sorted(names)
        query = HistoryQuery(limit=1_000, cursor=page.cursor)


async def test_all_that_ended_is_in_history_and_gone_from_the_journal(
    store: Store, archive: Archive
) -> None:
    names = await run_jobs(store, 2 * BATCH + 5)
    await archiver(store, archive).hand_over()
    assert await found(archive) == sorted(names)
    assert list(await store.read_journal(10)) == []


async def test_nothing_is_missed_while_the_database_is_away(
    store: Store, archive: Archive, caplog: pytest.LogCaptureFixture
) -> None:
    away = Outage(archive)
    service = archiver(store, away)
    service.start()
    names = await run_jobs(store, 10)
    await until(lambda: not drive(store.read_journal(1)))
    away.down = True
    for _ in range(5):
        names |= await run_jobs(store, 10)
    tries = away.tries
    await until(lambda: away.tries > tries + 2)
    assert len(await store.read_journal(1_000)) == 50
    away.down = False
    await until(lambda: not drive(store.read_journal(1)))
    await service.stop()
    await archive.open()
    assert await found(archive) == sorted(names)
    told = [record.message for record in caplog.records if "cannot be written" in record.message]
    assert len(told) == 1


async def test_an_archiver_that_dies_before_it_trims_doubles_nothing(
    store: Store, archive: Archive
) -> None:
    names = await run_jobs(store, 10)
    faulty = FaultyStore(store)
    faulty.fail["trim_journal"] = 1
    with pytest.raises(StoreUnavailable):
        await archiver(faulty, archive).hand_over()
    assert len(await store.read_journal(100)) == 10
    assert await found(archive) == sorted(names)
    await archiver(store, archive).hand_over()
    assert await found(archive) == sorted(names)
    assert list(await store.read_journal(100)) == []
    assert await archive.prune(100, most=10) == 0
    for name in names:
        assert len(await archive.attempts(name)) == 1


async def test_two_archivers_at_once_do_no_harm(
    store: Store, archive: Archive, history_url: str, clock: FakeClock
) -> None:
    other = open_archive(history_url, clock=clock)
    await other.open()
    names: set[str] = set()

    async def work() -> None:
        for _ in range(20):
            names.update(await run_jobs(store, 30))
            await asyncio.sleep(0)

    first, second = archiver(store, archive), archiver(store, other)
    await asyncio.gather(work(), first.hand_over(), second.hand_over())
    await asyncio.gather(first.hand_over(), second.hand_over())
    assert await found(archive) == sorted(names)
    assert await archive.prune(1_000, most=len(names)) == 0
    await other.close()


async def test_a_job_that_the_database_refuses_is_kept_bare(
    store: Store, archive: Archive, caplog: pytest.LogCaptureFixture
) -> None:
    names = await run_jobs(store, 3)
    [large] = await run_jobs(store, 1, Spec("work", b"x" * 1_000))
    await archiver(store, Picky(archive._database)).hand_over()
    assert await found(archive) == sorted([*names, large])
    job = await archive.get(large)
    assert job is not None
    assert (job.spec.task, job.spec.payload) == ("work", b"")
    assert f"job {large} is in history without its arguments" in caplog.text


async def test_what_the_last_jobs_left_is_handed_over_at_the_end(
    store: Store, archive: Archive
) -> None:
    service = archiver(store, archive, interval=600)
    service.start()
    names = await run_jobs(store, 10)
    await service.stop()
    await archive.open()
    assert await found(archive) == sorted(names)


async def test_who_does_not_lead_hands_nothing_over_before_its_end(
    store: Store, archive: Archive
) -> None:
    service = archiver(store, archive)
    service._leader = follower = Follower(store, "test")
    service.start()
    await run_jobs(store, 10)
    await until(lambda: follower.asked > 3)
    assert len(await store.read_journal(100)) == 10
    await service.stop()
    assert list(await store.read_journal(100)) == []


async def test_history_is_pruned_in_batches(
    store: Store, archive: Archive, clock: FakeClock
) -> None:
    number = 2 * PRUNE_BATCH + 10
    await archive.keep([line(f"job-{n:05}", at=n) for n in range(number)])
    await archiver(store, archive, most=7).prune()
    assert await found(archive) == [f"job-{n:05}" for n in range(number - 7, number)]
    clock.advance(3_600)
    await archiver(store, archive, keep=60).prune()
    assert await found(archive) == []


SCRIPT = """
import asyncio, os, sys
from windlass.core.model import Transition
from windlass.core.states import State
from windlass.history.open import open_archive
from windlass.stores.open import open_store

async def main(store_url, history_url):
    store, archive = open_store(store_url), open_archive(history_url)
    await store.open()
    await archive.open()
    entries = await store.read_journal(100)
    await archive.keep(entries)
    print(len(entries), flush=True)
    await asyncio.sleep(600)

asyncio.run(main(*sys.argv[1:]))
"""


async def test_a_process_killed_between_writing_and_trimming_is_made_good(
    history_url: str, tmp_path: Path
) -> None:
    url = f"sqlite:///{tmp_path}/jobs.db"
    store = open_store(url)
    await store.open()
    await store.keep_journal(True)
    names = await run_jobs(store, 20)
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-c", SCRIPT, url, history_url, stdout=asyncio.subprocess.PIPE
    )
    assert process.stdout is not None
    async with asyncio.timeout(60):
        assert (await process.stdout.readline()).strip() == b"20"
    os.kill(process.pid, signal.SIGKILL)
    await process.wait()
    archive = open_archive(history_url)
    service = archiver(store, archive)
    await service.hand_over()
    assert await found(archive) == sorted(names)
    assert list(await store.read_journal(100)) == []
    assert await archive.prune(100, most=20) == 0
    await archive.close()
    await store.close()
