"""Jobs that depend on others: blocked, released, orphaned."""

from __future__ import annotations

from ...core.model import Receipt, Spec, Transition
from ...core.states import LIVE, State
from ...errors import UnknownJob
from ...stores.contract import Store
from ..clock import FakeClock
from ..jobs import (
    BOOM,
    bring,
    claim,
    claim_all,
    claim_one,
    counts,
    finish,
    ids,
    job_of,
    listing,
    new_job,
    put,
    raises,
    state_of,
)


def after(*parents: str, **more: object) -> Spec:
    """The spec of a job that depends on these."""
    return Spec("work", b"", parents=parents, **more)  # type: ignore[arg-type]


async def end(store: Store, id: str, state: State, queue: str = "default") -> None:
    """Run a pending job, the next one of its queue, to its end."""
    job = await claim_one(store, queue=queue)
    assert job.id == id
    assert await finish(store, job, state, error=None if state is State.COMPLETED else BOOM)


async def settle(store: Store) -> None:
    """Do what is left to do for dependents."""
    while await store.unblock(100):
        pass


async def test_a_job_is_blocked_while_a_parent_is_live(store: Store) -> None:
    for state in LIVE - {State.BLOCKED}:
        await bring(store, state, state, queue=state)
        await put(store, f"child-{state}", spec=after(state), queue="children")
        child = await job_of(store, f"child-{state}")
        assert (child.state, child.waits_for) == (State.BLOCKED, (state,)), state
    assert await claim(store, queue="children") == []
    assert await counts(store, "children") == {State.BLOCKED: len(LIVE) - 1}


async def test_it_is_pending_when_all_its_parents_are_completed(store: Store) -> None:
    await put(store, "a", "b", queue="parents")
    await put(store, "child", spec=after("a", "b"))
    await end(store, "a", State.COMPLETED, "parents")
    await settle(store)
    child = await job_of(store, "child")
    assert (child.state, child.waits_for) == (State.BLOCKED, ("b",))
    await end(store, "b", State.COMPLETED, "parents")
    await settle(store)
    child = await job_of(store, "child")
    assert (child.state, child.waits_for) == (State.PENDING, ())
    assert ids(await claim(store)) == ["child"]
    assert await counts(store) == {State.ACTIVE: 1}


async def test_parents_that_are_completed_already_do_not_block(store: Store) -> None:
    await bring(store, "done", State.COMPLETED)
    await put(store, "child", spec=after("done"))
    assert await state_of(store, "child") is State.PENDING


async def test_a_parent_and_its_dependent_can_come_in_one_call(store: Store) -> None:
    jobs = [new_job("a"), new_job("b", after("a")), new_job("c", after("a", "b"))]
    assert list(await store.insert(jobs)) == [Receipt("a"), Receipt("b"), Receipt("c")]
    for id in "abc":
        await end(store, id, State.COMPLETED)
        await settle(store)
    assert await counts(store) == {State.COMPLETED: 3}


async def test_an_unknown_parent_is_refused_and_nothing_is_written(store: Store) -> None:
    for jobs in (
        [new_job("a"), new_job("b", after("a", "nobody"))],
        [new_job("b", after("a")), new_job("a")],
        [new_job("b", after("b"))],
    ):
        with raises(UnknownJob):
            await store.insert(jobs)
        assert await store.get(["a", "b"]) == {}
        assert list(await store.queues()) == []


async def test_a_diamond_runs_its_end_once(store: Store) -> None:
    top, left, right = new_job("top"), new_job("left", after("top")), new_job("right", after("top"))
    await store.insert([top, left, right, new_job("end", after("left", "right"))])
    await end(store, "top", State.COMPLETED)
    await settle(store)
    both = await claim_all(store)
    assert ids(both) == ["left", "right"]
    for job in both:
        assert await finish(store, job, State.COMPLETED)
    await settle(store)
    assert ids(await claim_all(store)) == ["end"]


async def test_a_parent_named_twice_is_one(store: Store) -> None:
    await put(store, "a", queue="parents")
    await put(store, "child", spec=after("a", "a"))
    assert (await job_of(store, "child")).waits_for == ("a",)
    await end(store, "a", State.COMPLETED, "parents")
    await settle(store)
    assert await state_of(store, "child") is State.PENDING


async def test_retries_and_releases_of_a_parent_are_no_end(store: Store) -> None:
    await put(store, "a", queue="parents")
    await put(store, "child", spec=after("a"))
    for state in (State.RETRY, State.SCHEDULED, State.PENDING):
        job = await claim_one(store, queue="parents")
        assert await finish(store, job, state, delay=0)
        await settle(store)
        assert await state_of(store, "child") is State.BLOCKED, state


async def test_a_parent_that_is_not_kept_still_releases(store: Store) -> None:
    await put(store, "a", spec=Spec("work", b"", keep=0), queue="parents")
    await put(store, "child", spec=after("a"))
    await end(store, "a", State.COMPLETED, "parents")
    await settle(store)
    assert await state_of(store, "a") is None
    assert await state_of(store, "child") is State.PENDING


async def test_a_released_job_waits_for_its_own_time(store: Store, clock: FakeClock) -> None:
    await put(store, "a", queue="parents")
    await put(store, "later", spec=after("a"), delay=60_000)
    await put(store, "now", spec=after("a"), delay=1_000)
    clock.advance(1)
    await end(store, "a", State.COMPLETED, "parents")
    await settle(store)
    assert await state_of(store, "later") is State.SCHEDULED
    assert await state_of(store, "now") is State.PENDING
    clock.advance(60)
    assert ids(await claim_all(store)) == ["now", "later"]


async def test_what_is_released_together_runs_in_the_order_of_its_coming(store: Store) -> None:
    await put(store, "a", "b", queue="parents")
    children = [new_job(str(n), after("ab"[n % 2])) for n in range(6)]
    await store.insert(children)
    a, b = await claim_all(store, "parents")
    await put(store, "before")
    moves = [Transition(job.id, job.fence, State.COMPLETED, queue=job.queue) for job in (b, a)]
    assert await store.finish(moves) == {"a", "b"}
    await settle(store)
    assert ids(await claim_all(store)) == ["before", "1", "3", "5", "0", "2", "4"]


async def test_a_duplicate_is_not_blocked_anew(store: Store) -> None:
    await put(store, "a", queue="parents")
    await put(store, "child")
    receipts = await store.insert([new_job("child", after("a"))])
    assert list(receipts) == [Receipt("child", duplicate=True)]
    assert await state_of(store, "child") is State.PENDING


async def test_blocked_jobs_are_listed_with_what_they_wait_for(store: Store) -> None:
    await put(store, "a", queue="parents")
    await put(store, "x", "y", spec=after("a"))
    blocked = await listing(store, states=(State.BLOCKED,))
    assert [(job.id, job.waits_for) for job in blocked] == [("x", ("a",)), ("y", ("a",))]


async def test_a_thousand_dependents_are_released_in_bounded_steps(store: Store) -> None:
    await put(store, "a", queue="parents")
    names = [f"{n:04}" for n in range(1_000)]
    for start in range(0, 1_000, 100):
        await put(store, *names[start : start + 100], spec=after("a"))
    await end(store, "a", State.COMPLETED, "parents")
    await settle(store)
    assert await store.unblock(100) == 0
    assert ids(await claim_all(store)) == names


async def test_a_job_with_a_thousand_parents_waits_for_the_last(store: Store) -> None:
    names = [f"{n:04}" for n in range(1_000)]
    for start in range(0, 1_000, 100):
        await put(store, *names[start : start + 100], queue="parents")
    await put(store, "end", spec=after(*names))
    jobs = await claim_all(store, "parents")
    for job in jobs[:-1]:
        assert await finish(store, job, State.COMPLETED)
    await settle(store)
    assert (await job_of(store, "end")).waits_for == (jobs[-1].id,)
    assert await finish(store, jobs[-1], State.COMPLETED)
    await settle(store)
    assert await state_of(store, "end") is State.PENDING


async def test_a_parent_may_come_again_behind_its_child_in_the_same_call(store: Store) -> None:
    parent, child = new_job("a"), new_job("b", after("a"))
    receipts = await store.insert([parent, child, parent])
    assert [each.duplicate for each in receipts] == [False, False, True]
    assert (await job_of(store, "b")).waits_for == ("a",)
