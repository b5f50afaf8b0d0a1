"""Looks at a real store, whose time the test moves."""

import pytest

from windlass.cli.top import looker
from windlass.cli.top.looker import SLOW_MS, Looker
from windlass.core.codec import Codecs
from windlass.core.model import NewJob, Spec
from windlass.core.schedule import schedule_of
from windlass.core.states import State
from windlass.core.stats import FINE, Tally
from windlass.core.workers import WorkerInfo
from windlass.stores.memory import MemoryStore
from windlass.testing.clock import FakeClock
from windlass.testing.jobs import bring, put


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture
def store(clock: FakeClock) -> MemoryStore:
    return MemoryStore(clock)


@pytest.fixture
def looks(store: MemoryStore) -> Looker:
    return Looker(store, Codecs())


async def test_a_look_has_what_there_is(
    store: MemoryStore, looks: Looker, clock: FakeClock
) -> None:
    await put(store, "p", queue="mail")
    await bring(store, "a", State.ACTIVE, queue="other")
    await store.beat(WorkerInfo("w", "h", 1, ("mail",), 5, 0), 60_000)
    clock.advance(10)
    found = await looks.look()
    assert found.now == clock.now
    assert [queue.name for queue in found.situation.queues] == ["mail", "other"]
    assert list(found.situation.oldest) == ["mail"]
    assert [worker.id for worker in found.situation.workers] == ["w"]
    assert [job.id for job in found.active] == ["a"]
    assert (found.failed, found.opened) == ([], None)


async def test_an_empty_store_can_be_looked_at(looks: Looker) -> None:
    found = await looks.look()
    assert (found.situation.queues, found.active, found.rate("completed")) == ([], [], 0)


async def test_errors_are_dead_jobs_and_failed_ones_those_first_that_failed_last(
    store: MemoryStore, looks: Looker, clock: FakeClock
) -> None:
    for n, state in enumerate((State.DEAD, State.RETRY, State.DEAD)):
        clock.advance(10)
        await bring(store, f"j{n}", state)
    await put(store, "fine")
    failed = (await looks.look()).failed
    assert [(job.id, job.state) for job in failed] == [
        ("j2", State.DEAD),
        ("j1", State.RETRY),
        ("j0", State.DEAD),
    ]


async def test_a_look_is_bounded(
    store: MemoryStore, looks: Looker, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(looker, "MOST_JOBS", 3)
    monkeypatch.setattr(looker, "MOST_QUEUES", 2)
    monkeypatch.setattr(looker, "RATED_QUEUES", 1)
    for n in range(5):
        await bring(store, f"d{n}", State.DEAD, queue=f"q{n}")
        await bring(store, f"a{n}", State.ACTIVE, queue=f"q{n}")
        await put(store, *(f"p{n}-{k}" for k in range(n + 1)), queue=f"q{n}")
    found = await looks.look()
    assert (len(found.active), len(found.failed)) == (3, 3)
    assert len(found.situation.queues) == 5
    assert sorted(found.situation.oldest) == ["q3", "q4"]
    assert sorted(found.points) == ["", "q0"]


async def test_rates_are_those_of_the_queues_that_can_be_seen(
    store: MemoryStore, looks: Looker, clock: FakeClock
) -> None:
    clock.now -= clock.now % FINE
    await put(store, "p", queue="mail")
    await store.tally("w", 1, [Tally("mail", {"completed": 60}), Tally("b", {"completed": 6})])
    clock.advance(60)
    found = await looks.look(["mail"])
    assert sorted(found.points) == ["", "mail"]
    assert (found.rate("completed"), found.rate("completed", "mail")) == (1.1, 1.0)
    assert found.series("completed", 8, "mail") == [0, 60, 0, 0, 0, 0, 0, 0]
    clock.advance(60)
    assert (await looks.look(["mail"])).rate("completed") == 0


async def test_what_changes_slowly_is_asked_for_now_and_then(
    store: MemoryStore, looks: Looker, clock: FakeClock
) -> None:
    await bring(store, "j", State.DEAD, queue="mail")
    assert (await looks.look()).situation.schedules == []
    await store.tally("w", 1, [Tally("mail", {"dead": 1})])
    job = NewJob("x", Spec("report", b""), fresh=True)
    await store.put_schedules([schedule_of("nightly", "@daily", job)])
    before = (await looks.look()).situation
    clock.advance(SLOW_MS / 1000)
    after = (await looks.look()).situation
    assert (before.schedules, before.recent) == ([], {})
    assert [each.name for each in after.schedules] == ["nightly"]
    assert after.recent == {"mail": {"dead": 1}}


async def test_an_open_job_comes_with_why_it_does_not_run_and_with_its_call(
    store: MemoryStore, looks: Looker
) -> None:
    await put(store, "p", queue="mail")
    opened = (await looks.look(opened="p")).opened
    assert opened is not None and opened.id == "p"
    assert opened.lines[0].startswith("No worker serves its queue mail")
    assert "state      pending" in opened.lines
    gone = (await looks.look(opened="nobody")).opened
    assert gone is not None and gone.lines[0].startswith("There is no job nobody")
