"""Unique keys that are held for another time, and jobs that find theirs held."""

from __future__ import annotations

from typing import Any

import msgspec
from msgspec.structs import replace

from ...core.lane import Lane
from ...core.model import NewJob, Receipt, Spec
from ...core.states import State
from ...core.unique import UNTIL_STARTED
from ...stores.contract import Store
from ..clock import FakeClock
from ..jobs import BOOM, bring, claim, claim_one, finish, ids, job_of, new_job, put, state_of
from . import dependents

FIRST = Spec("work", b"first")
SECOND = Spec("work", b"second")
UNSTARTED = Spec("work", b"", unique_for=UNTIL_STARTED)
WINDOW = Spec("work", b"", unique_for=10_000)
FLEETING_WINDOW = Spec("work", b"", keep=0, unique_for=10_000)
TAKEN = Receipt("a", duplicate=True)


def rival(id: str, conflict: Any = "reject", spec: Spec = SECOND, **options: Any) -> NewJob:
    """A job that wants the key `k`."""
    return new_job(id, spec, unique="k", conflict=conflict, **options)


async def offer(store: Store, job: NewJob) -> Receipt:
    [receipt] = await store.insert([job])
    return receipt


# -- until it starts -------------------------------------------------------------------------


async def test_a_key_until_the_start_is_free_from_the_claim_on(store: Store) -> None:
    await put(store, "a", spec=UNSTARTED, unique="k")
    assert await offer(store, rival("b")) == TAKEN
    first = await claim_one(store)
    assert first.unique is None
    assert await offer(store, rival("b", spec=UNSTARTED)) == Receipt("b")
    assert await finish(store, first, State.RETRY, error=BOOM)
    assert (await job_of(store, "a")).unique is None
    assert await offer(store, rival("c")) == Receipt("b", duplicate=True)


async def test_a_job_that_never_started_frees_its_key_when_it_ends(store: Store) -> None:
    for end in (store.cancel, store.delete):
        await put(store, "a", spec=UNSTARTED, unique="k")
        assert await end(["a"]) == {"a"}
        assert await offer(store, rival("b")) == Receipt("b")
        assert await store.delete(["b"]) == {"b"}
        await store.delete(["a"])


# -- for a window ----------------------------------------------------------------------------


async def test_a_window_holds_the_key_for_its_time_and_no_longer(
    store: Store, clock: FakeClock
) -> None:
    await put(store, "a", spec=WINDOW, unique="k")
    assert (await job_of(store, "a")).unique is None
    clock.advance(9.999)
    assert await offer(store, rival("b")) == TAKEN
    clock.advance(0.001)
    assert await offer(store, rival("b")) == Receipt("b")
    assert await state_of(store, "a") is State.PENDING


async def test_a_window_outlasts_the_job(store: Store, clock: FakeClock) -> None:
    for state, spec in ((State.COMPLETED, WINDOW), (State.DEAD, WINDOW)):
        await bring(store, "a", state, spec, unique="k")
        assert await offer(store, rival("b")) == TAKEN, state
        clock.advance(10)
        assert await store.delete(["a"]) == {"a"}
    await put(store, "a", spec=FLEETING_WINDOW, unique="k")
    assert await finish(store, await claim_one(store), State.COMPLETED)
    assert await state_of(store, "a") is None
    assert await offer(store, rival("b", "replace")) == TAKEN


async def test_who_is_called_off_gives_up_the_window(store: Store) -> None:
    await put(store, "a", spec=WINDOW, unique="k")
    assert await store.cancel(["a"]) == {"a"}
    assert await offer(store, rival("b", spec=WINDOW)) == Receipt("b")
    assert await store.delete(["b"]) == {"b"}
    assert await offer(store, rival("c", spec=WINDOW)) == Receipt("c")
    assert await finish(store, await claim_one(store), State.CANCELLED)
    assert await offer(store, rival("d")) == Receipt("d")


async def test_windows_and_live_keys_are_the_same_keys(store: Store) -> None:
    await put(store, "a", unique="k")
    assert await offer(store, rival("b", spec=WINDOW)) == TAKEN
    assert await store.cancel(["a"]) == {"a"}
    assert await offer(store, rival("b", spec=WINDOW)) == Receipt("b")
    assert await offer(store, rival("c")) == Receipt("b", duplicate=True)


async def test_windows_that_are_over_leave_nothing(store: Store, clock: FakeClock) -> None:
    for n in range(50):
        await put(store, f"a{n}", spec=FLEETING_WINDOW, unique=f"k{n}")
    for job in await claim(store):
        assert await finish(store, job, State.COMPLETED)
    clock.advance(11)
    while await store.prune(100):
        pass
    receipts = await store.insert([new_job(f"b{n}", unique=f"k{n}") for n in range(50)])
    assert not any(receipt.duplicate for receipt in receipts)


# -- replace ---------------------------------------------------------------------------------


async def test_a_job_that_waits_is_replaced_and_stays_the_job_it_is(
    store: Store, clock: FakeClock
) -> None:
    for state in (State.PENDING, State.SCHEDULED, State.RETRY):
        await bring(store, "a", state, FIRST, unique="k")
        clock.advance(1)
        assert await offer(store, rival("b", "replace", priority=80)) == TAKEN
        assert await state_of(store, "b") is None
        job = await job_of(store, "a")
        assert (job.state, job.spec, job.priority) == (State.PENDING, SECOND, 80), state
        assert (job.attempt, job.error, job.worker) == (0, None, None)
        assert job.created_at == job.due == clock()
        assert (await claim_one(store)).spec == SECOND
        assert await store.cancel(["a"]) == await store.delete(["a"]) == {"a"}


async def test_the_one_that_replaces_says_when(store: Store, clock: FakeClock) -> None:
    await put(store, "a", spec=FIRST, unique="k", delay=10_000)
    clock.advance(9)
    assert await offer(store, rival("b", "replace", delay=10_000)) == TAKEN
    clock.advance(9)
    assert await claim(store) == []
    clock.advance(1)
    assert (await claim_one(store)).spec == SECOND


async def test_the_one_that_is_replaced_goes_to_the_end_of_the_line(store: Store) -> None:
    await put(store, "a", unique="k")
    await put(store, "b")
    assert await offer(store, rival("c", "replace")) == TAKEN
    assert ids(await claim(store)) == ["b", "a"]


async def test_a_job_that_runs_is_not_replaced(store: Store) -> None:
    await bring(store, "a", State.ACTIVE, FIRST, unique="k")
    assert await offer(store, rival("b", "replace")) == TAKEN
    assert (await job_of(store, "a")).spec == FIRST


async def test_the_replaced_job_stays_in_its_queue(store: Store) -> None:
    await put(store, "a", queue="one", unique="k")
    assert await offer(store, rival("b", "replace", queue="two")) == TAKEN
    assert (await job_of(store, "a")).queue == "one"
    assert await claim(store, queue="two") == []
    assert (await claim_one(store, queue="one")).spec == SECOND


async def test_who_depends_on_a_replaced_job_still_does(store: Store) -> None:
    await put(store, "a", unique="k")
    await put(store, "child", spec=Spec("work", b"", parents=("a",)))
    assert await offer(store, rival("b", "replace")) == TAKEN
    assert await state_of(store, "child") is State.BLOCKED
    assert await finish(store, await claim_one(store), State.COMPLETED)
    assert await state_of(store, "child") is State.PENDING


async def test_a_blocked_job_that_is_replaced_stays_blocked(store: Store) -> None:
    await put(store, "parent")
    await put(store, "a", spec=Spec("work", b"first", parents=("parent",)), unique="k")
    assert await offer(store, rival("b", "replace")) == TAKEN
    job = await job_of(store, "a")
    assert (job.state, job.spec, job.waits_for) == (State.BLOCKED, SECOND, ("parent",))
    assert await finish(store, await claim_one(store), State.COMPLETED)
    assert (await claim_one(store)).spec == SECOND


async def test_replacing_starts_the_window_anew(store: Store, clock: FakeClock) -> None:
    await put(store, "a", spec=WINDOW, unique="k")
    clock.advance(9)
    assert await offer(store, rival("b", "replace", spec=WINDOW)) == TAKEN
    clock.advance(9)
    assert await offer(store, rival("c")) == TAKEN
    clock.advance(1)
    assert await offer(store, rival("c")) == Receipt("c")


async def test_a_large_job_can_be_replaced_and_replace(store: Store) -> None:
    large = Spec("work", b"x" * 100_000)
    await put(store, "a", spec=large, unique="k")
    assert await offer(store, rival("b", "replace")) == TAKEN
    assert (await job_of(store, "a")).spec == SECOND
    assert await offer(store, rival("c", "replace", spec=large)) == TAKEN
    assert (await claim_one(store)).spec == large


async def test_of_many_in_one_call_the_last_replaces(store: Store) -> None:
    jobs = [rival(f"a{n}", "replace", spec=Spec("work", str(n).encode())) for n in range(100)]
    receipts = await store.insert(jobs)
    assert receipts == [Receipt("a0"), *[Receipt("a0", duplicate=True)] * 99]
    assert (await claim_one(store)).spec.payload == b"99"


# -- the last one ----------------------------------------------------------------------------


async def test_behind_one_that_runs_the_last_waits(store: Store) -> None:
    await bring(store, "a", State.ACTIVE, FIRST, unique="k")
    assert await offer(store, rival("b", "last", spec=FIRST)) == Receipt("b")
    job = await job_of(store, "b")
    assert (job.state, job.waits_for, job.unique) == (State.BLOCKED, ("a",), "k")
    assert (await job_of(store, "a")).unique is None
    assert await offer(store, rival("c", "last")) == Receipt("b", duplicate=True)
    assert (await job_of(store, "b")).spec == SECOND
    assert (await job_of(store, "b")).waits_for == ("a",)


async def test_the_last_runs_however_the_one_before_ended(store: Store) -> None:
    for state in (State.COMPLETED, State.DEAD, State.CANCELLED):
        await put(store, f"{state}-a", unique="k")
        first = await claim_one(store)
        assert await offer(store, rival(f"{state}-b", "last")) == Receipt(f"{state}-b")
        assert await finish(store, first, state, error=BOOM)
        last = await claim_one(store)
        assert (last.id, last.unique) == (f"{state}-b", "k")
        assert await finish(store, last, State.COMPLETED)
        assert await offer(store, rival(f"{state}-c")) == Receipt(f"{state}-c")
        assert await store.delete([f"{state}-c"])


async def test_without_one_that_runs_the_last_replaces(store: Store) -> None:
    await put(store, "a", spec=FIRST, unique="k")
    assert await offer(store, rival("b", "last")) == TAKEN
    assert (await claim_one(store)).spec == SECOND


async def test_the_first_ends_without_taking_the_key_of_the_last(store: Store) -> None:
    await put(store, "a", unique="k")
    first = await claim_one(store)
    assert await offer(store, rival("b", "last")) == Receipt("b")
    assert await finish(store, first, State.DEAD, error=BOOM)
    assert await offer(store, rival("c")) == Receipt("b", duplicate=True)
    assert await store.replay(["a"]) == {"a"}, "it holds no key any more"


async def test_a_follower_takes_over_the_window(store: Store, clock: FakeClock) -> None:
    await put(store, "a", spec=WINDOW, unique="k")
    await claim_one(store)
    clock.advance(5)
    follower = msgspec.structs.replace(WINDOW, payload=b"x")
    assert await offer(store, rival("b", "last", spec=follower)) == Receipt("b")
    clock.advance(9)
    assert await offer(store, rival("c")) == Receipt("b", duplicate=True)
    clock.advance(1)
    assert await offer(store, rival("c")) == Receipt("c")


async def test_a_job_that_waits_for_others_is_replaced_and_waits_on(store: Store) -> None:
    """As a step of a workflow gets the lane that comes of what flows into it."""
    lane = Lane("l", slots=1)
    await put(store, "other", spec=Spec("t", b"", lane=lane))
    await put(store, "a", queue="parents")
    await put(store, "step", spec=dependents.after("a"), unique="step's")
    await put(store, "next", spec=dependents.after("step"))
    spec = replace((await job_of(store, "step")).spec, lane=lane)
    new = new_job("instead", spec=spec, unique="step's", conflict="replace")
    for _ in range(2):
        assert list(await store.insert([new])) == [Receipt("step", duplicate=True)]
        step = await job_of(store, "step")
        assert (step.state, step.waits_for, step.spec.lane) == (State.BLOCKED, ("a",), lane)
    await dependents.end(store, "a", State.COMPLETED, "parents")
    await dependents.settle(store)
    step = await job_of(store, "step")
    assert (step.state, step.waits_for) == (State.BLOCKED, ())
    assert (await job_of(store, "next")).waits_for == ("step",)
    for id in ("other", "step"):
        await dependents.end(store, id, State.COMPLETED, "default")
        await dependents.settle(store)
    assert await state_of(store, "next") is State.PENDING
