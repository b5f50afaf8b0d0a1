"""Claims pass over what is gone while it is slow to begin at the start, and only then."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import asyncpg
import pytest

from tests.servers.server import Server
from tests.stores.postgres.site import emptied, opened, sleeping
from windlass.core.model import Transition
from windlass.core.states import State
from windlass.stores.postgres import marks as module
from windlass.stores.postgres import watch
from windlass.stores.postgres.marks import (
    AGE,
    BEFORE,
    BEHIND,
    FEW,
    FIRST,
    GROUPED,
    LAST,
    LATEST,
    Marks,
)
from windlass.stores.postgres.store import PostgresStore
from windlass.testing.jobs import LEASE, claim, claim_one, ids, new_job, put

SLOW = 0.02
MANY = 1_000


class Known:
    """Marks, and a clock for them."""

    def __init__(self) -> None:
        self.now = 100.0
        self.marks = Marks(lambda: self.now)

    def pass_by(self, seconds: float) -> None:
        self.now += seconds

    def ripen(self) -> None:
        for _ in range(2):
            self.pass_by(2 * AGE)
            self.marks.ranges(["q"])


def test_a_claim_that_reads_few_pages_leaves_no_marks_however_long_it_takes() -> None:
    known = Known()
    known.marks.took(9.0, FEW, 1)
    assert not known.marks.hold


def test_after_one_that_reads_many_the_next_ones_begin_elsewhere_for_a_while() -> None:
    known = Known()
    known.marks.took(SLOW, MANY, 1)
    assert known.marks.hold
    known.pass_by(LATEST)
    assert not known.marks.hold


def test_a_claim_of_many_may_read_more() -> None:
    known = Known()
    known.marks.took(SLOW, FEW + 2, 100)
    assert not known.marks.hold
    known.marks.took(SLOW, FEW + 2, 1)
    assert known.marks.hold


def test_places_become_marks_when_they_are_old_enough() -> None:
    known = Known()
    known.marks.note("q", 50, 1_000)
    assert known.marks.ranges(["q"]) == (["q"], [BEFORE], [0], [0], [BEHIND])
    known.ripen()
    assert known.marks.ranges(["q"]) == (
        ["q", "q", "q"],
        [BEFORE, 50, 50],
        [0, FIRST, 1_000],
        [0, 0, LAST],
        [50, 51, BEHIND],
    )


def test_of_no_queue_nothing_is_looked_at() -> None:
    assert Known().marks.ranges([]) == ([], [], [], [], [])


def test_groups_have_a_mark_of_their_own_and_released_jobs_have_none() -> None:
    known = Known()
    known.marks.note("q", 25, GROUPED + 7)
    known.marks.note("q", 25, 3)
    known.marks.note("q", 25, -5)
    known.marks.note("q", 75, -5)
    known.ripen()
    assert known.marks.ranges(["q", "r"]) == (
        ["q", "q", "q", "q", "r"],
        [BEFORE, 25, 25, 25, BEFORE],
        [0, FIRST, 3, GROUPED + 7, 0],
        [0, 0, GROUPED, LAST, 0],
        [25, 26, 26, BEHIND, BEHIND],
    )


def test_who_is_called_begins_at_the_start_sooner() -> None:
    known = Known()
    known.marks.took(SLOW, MANY, 1)
    known.marks.recall()
    assert known.marks.hold
    known.pass_by(3 * SLOW)
    assert not known.marks.hold


@pytest.fixture
def always(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every claim is called slow, and what was claimed leaves a mark at once."""
    monkeypatch.setattr(module, "FEW", -1)
    monkeypatch.setattr(module, "AGE", 0.0)


@asynccontextmanager
async def held(url: str) -> AsyncIterator[None]:
    """A snapshot of how things are now, for as long."""
    connection = await asyncpg.connect(url.partition("?")[0])
    await connection.execute("BEGIN ISOLATION LEVEL REPEATABLE READ")
    await connection.execute("SELECT 1")
    try:
        yield
    finally:
        await connection.close()


async def end_all(store: PostgresStore, number: int) -> None:
    for job in await claim(store, number):
        assert await store.finish([Transition(job.id, job.fence, State.COMPLETED)])


def stay(store: PostgresStore) -> None:
    """No claim begins at the start any more."""
    store._marks._from_start = store._marks._recalled = float("inf")


@pytest.mark.usefixtures("always")
async def test_what_is_better_or_was_released_is_found_all_the_same(
    postgres_server: Server,
) -> None:
    url = emptied(postgres_server.url)
    async with opened(url) as store, opened(url) as other:
        await put(store, *[f"job-{n}" for n in range(6)])
        await end_all(store, 2)
        stay(store)
        await end_all(store, 1)
        released = await claim_one(other)
        await other.finish([Transition(released.id, released.fence, State.PENDING, refund=True)])
        await put(other, "better", priority=75)
        await put(other, "worse", priority=25)
        found = [(await claim_one(store)).id for _ in range(5)]
        assert found == ["better", "job-3", "job-4", "job-5", "worse"]


@pytest.mark.usefixtures("always")
async def test_a_commit_behind_the_marks_is_called_for(
    postgres_server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A user's transaction took its place in line before others that were claimed since."""
    monkeypatch.setattr(watch, "IDLE_LOOK", 60.0)
    url = emptied(postgres_server.url)
    async with opened(url) as store, opened(url) as other:
        user = await other._base.connect()
        await user.raw.execute("BEGIN")
        await user.each(other.inserting([new_job("late", fresh=True)])(0))
        await put(other, "a", "b", "c")
        for _ in range(3):
            await end_all(store, 1)
        store._marks._from_start = float("inf")
        waiting = await sleeping(store)
        await user.raw.execute("COMMIT")
        await asyncio.wait_for(waiting, 30)
        assert ids(await claim(store, 9)) == ["late"]
        await user.raw.close()


async def test_a_claim_reads_the_same_however_many_jobs_are_gone(postgres_server: Server) -> None:
    """Pages of the index and of the table, beside an old snapshot."""
    url = emptied(postgres_server.url)
    async with opened(url) as store, held(url):
        for n in range(3):
            await store.insert([new_job(f"{n}-{k}", fresh=True) for k in range(1_000)])
        for _ in range(29):
            jobs = await claim(store, 100)
            await store.finish([Transition(job.id, job.fence, State.COMPLETED) for job in jobs])
        store._marks._from_start = float("inf")
        await asyncio.sleep(AGE)
        for _ in range(2):
            await end_all(store, 1)
            await asyncio.sleep(AGE)
        assert await read_by_a_claim(store, url, "claim") > 25
        assert await read_by_a_claim(store, url, "claim_marked") < 20


async def read_by_a_claim(store: PostgresStore, url: str, query: str) -> int:
    """How many pages the server reads to find one job."""
    compiled = store._base._compiled[query]
    params = {
        "queues": ["default"],
        "mosts": [1],
        "limit": 1,
        "lease": LEASE,
        "worker": "w",
        "most_bytes": 1 << 20,
        "look": False,
        "alone": True,
        "now": None,
        **store._marks.ranges(["default"])._asdict(),
    }
    connection = await store._base.connect()
    await connection.raw.execute("BEGIN")
    explain = f"EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) {compiled.text}"
    plan = await connection.raw.fetchval(explain, *compiled.arguments(params))
    await connection.raw.close()
    return picking(plan)


def picking(plan: str) -> int:
    """The pages of the part of a plan that is called so."""
    before, _, after = plan.partition('"Subplan Name": "CTE picked"')
    assert before and after
    rest = after.partition('"Shared Hit Blocks": ')[2]
    return int(rest.partition(",")[0])
