"""Jobs that are parked until a signal comes, and word that is left for jobs."""

from __future__ import annotations

from ...core.model import NEVER, Job, Spec
from ...core.states import FINISHED, State
from ...stores.contract import Store
from ..clock import FakeClock
from ..jobs import (
    BOOM,
    LEASE,
    bring,
    claim,
    claim_one,
    counts,
    finish,
    ids,
    job_of,
    put,
    state_of,
)


async def park(store: Store, job: Job, name: str = "go", delay: int | None = None) -> bool:
    """End an attempt as one does that waits for a signal."""
    due = NEVER if delay is None else None
    return await finish(
        store, job, State.SCHEDULED, awaits=name, due=due, delay=delay or 0, refund=True
    )


async def parked(store: Store, id: str, name: str = "go", delay: int | None = None) -> None:
    await put(store, id)
    assert await park(store, await claim_one(store), name, delay)


async def test_a_parked_job_waits_without_a_worker_and_without_an_attempt(store: Store) -> None:
    await parked(store, "a")
    job = await job_of(store, "a")
    assert (job.state, job.awaits, job.due, job.attempt) == (State.SCHEDULED, "go", NEVER, 0)
    assert job.mail is None
    assert await claim(store) == []
    assert await counts(store) == {State.SCHEDULED: 1}


async def test_a_signal_lets_it_go_on_and_comes_with_the_claim(
    store: Store, clock: FakeClock
) -> None:
    await parked(store, "a")
    clock.advance(3_600)
    assert await store.signal("a", "go", b"value")
    job = await job_of(store, "a")
    assert (job.state, job.awaits, job.due) == (State.PENDING, None, clock())
    claimed = await claim_one(store)
    assert (claimed.mail, claimed.attempt) == ({"go": b"value"}, 1)
    assert (await job_of(store, "a")).mail == {"go": b"value"}


async def test_it_goes_on_once_however_often_it_is_signalled(store: Store) -> None:
    await parked(store, "a")
    assert await store.signal("a", "go", b"one")
    assert await store.signal("a", "go", b"one"), "the same word again does no harm"
    assert not await store.signal("a", "go", b"two"), "the first of a name stays"
    assert ids(await claim(store)) == ["a"]
    assert await claim(store) == []
    assert (await job_of(store, "a")).mail == {"go": b"one"}


async def test_a_signal_that_came_first_is_not_missed(store: Store) -> None:
    await put(store, "a", "b")
    assert await store.signal("a", "go", b"early")
    first, second = await claim(store, 2)
    assert (first.mail, second.mail) == ({"go": b"early"}, None)
    assert await store.signal("b", "go", b"while it runs")
    assert await park(store, second)
    assert await park(store, first)
    assert [job.mail for job in await claim(store)] == [{"go": b"early"}, {"go": b"while it runs"}]


async def test_another_signal_is_kept_and_does_not_wake(store: Store) -> None:
    await parked(store, "a")
    assert await store.signal("a", "other", b"")
    assert await state_of(store, "a") is State.SCHEDULED
    assert await store.signal("a", "go", b"x")
    assert (await claim_one(store)).mail == {"other": b"", "go": b"x"}


async def test_what_does_not_come_in_time_is_told_by_the_claim(
    store: Store, clock: FakeClock
) -> None:
    await parked(store, "a", delay=5_000)
    clock.advance(4.999)
    assert await claim(store) == []
    clock.advance(0.001)
    job = await claim_one(store)
    assert (job.awaits, job.mail) == ("go", None)
    assert await park(store, job, "other")
    assert (await job_of(store, "a")).awaits == "other"


async def test_a_release_does_not_make_it_wait_again(store: Store, clock: FakeClock) -> None:
    await parked(store, "a", delay=5_000)
    clock.advance(5)
    assert await finish(store, await claim_one(store), State.PENDING, refund=True)
    assert (await claim_one(store)).awaits == "go"


async def test_it_is_told_apart_from_other_waits(store: Store) -> None:
    await parked(store, "a", delay=0)
    for state in (State.SCHEDULED, State.RETRY):
        job = await claim_one(store)
        assert await finish(store, job, state, delay=0)
        assert (await job_of(store, "a")).awaits is None


async def test_word_is_kept_over_attempts_and_goes_with_the_completion(store: Store) -> None:
    await parked(store, "a")
    assert await store.signal("a", "go", b"x" * 100_000)
    for state in (State.RETRY, State.SCHEDULED, State.PENDING):
        assert await finish(store, await claim_one(store), state, delay=0, error=BOOM)
        assert (await job_of(store, "a")).mail == {"go": b"x" * 100_000}, state
    assert await finish(store, await claim_one(store), State.COMPLETED)
    assert (await job_of(store, "a")).mail is None


async def test_the_dead_keep_their_word_for_a_replay(store: Store) -> None:
    await put(store, "a")
    assert await store.signal("a", "go", b"x")
    assert await finish(store, await claim_one(store), State.DEAD, error=BOOM)
    assert not await store.signal("a", "late", b"")
    assert await store.replay(["a"]) == {"a"}
    assert (await claim_one(store)).mail == {"go": b"x"}


async def test_only_live_jobs_get_word(store: Store) -> None:
    assert not await store.signal("nobody", "go", b"")
    for state in FINISHED:
        await bring(store, state, state, queue=state)
        assert not await store.signal(state, "go", b""), state
        assert (await job_of(store, state)).mail is None


async def test_blocked_and_scheduled_jobs_get_word_and_wait_on(store: Store) -> None:
    await put(store, "parent", delay=60_000)
    await put(store, "child", spec=Spec("work", b"", parents=("parent",)))
    for id, state in (("parent", State.SCHEDULED), ("child", State.BLOCKED)):
        assert await store.signal(id, "go", b"x")
        job = await job_of(store, id)
        assert (job.state, job.mail) == (state, {"go": b"x"})


async def test_a_parked_job_can_be_cancelled_or_deleted_and_leaves_nothing(store: Store) -> None:
    await parked(store, "a")
    assert await store.cancel(["a"]) == {"a"}
    job = await job_of(store, "a")
    assert (job.state, job.awaits) == (State.CANCELLED, None)
    assert await store.delete(["a"]) == {"a"}
    await parked(store, "a")
    assert await store.signal("a", "other", b"x")
    assert await store.delete(["a"]) == {"a"}
    await put(store, "a")
    assert (await claim_one(store)).mail is None


async def test_a_late_worker_cannot_park_the_job_of_another(store: Store, clock: FakeClock) -> None:
    await put(store, "a")
    late = await claim_one(store)
    clock.advance(LEASE / 1000 + 1)
    assert len(await store.rescue(1, LEASE, "w2")) == 1
    assert not await park(store, late)
    assert (await job_of(store, "a")).awaits is None


async def test_jobs_that_are_signalled_go_to_the_end_of_the_line(store: Store) -> None:
    await parked(store, "a")
    await put(store, "b")
    assert await store.signal("a", "go", b"")
    assert ids(await claim(store)) == ["b", "a"]


async def test_a_move_takes_the_word_and_the_wait_along(store: Store) -> None:
    await parked(store, "a")
    assert await store.signal("a", "other", b"x")
    job = await job_of(store, "a")
    assert await store.delete(["a"], moved=True) == {"a"}
    [receipt] = await store.restore([job])
    assert not receipt.duplicate
    kept = await job_of(store, "a")
    assert (kept.state, kept.awaits, kept.mail) == (State.SCHEDULED, "go", {"other": b"x"})
    assert await store.signal("a", "go", b"y")
    assert (await claim_one(store)).mail == {"other": b"x", "go": b"y"}
