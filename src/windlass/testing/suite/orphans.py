"""Dependents whose parents fail, are called off, replayed or moved away."""

from __future__ import annotations

from ...core.dependents import ORPHANED
from ...core.model import Receipt, Spec
from ...core.states import FINISHED, State
from ...stores.contract import Store
from ..jobs import bring, counts, job_of, new_job, put, state_of
from .dependents import after, end, settle


async def test_a_failed_parent_cancels_its_dependents_with_the_reason(store: Store) -> None:
    for state in FINISHED - {State.COMPLETED}:
        await put(store, state, queue=state)
        await put(store, f"child-{state}", spec=after(state), queue=f"children-{state}")
        await end(store, state, state, state)
        await settle(store)
        child = await job_of(store, f"child-{state}")
        assert child.state is State.CANCELLED
        assert child.finished_at is not None
        assert child.error is not None
        assert child.error.kind == ORPHANED
        assert child.error.message == f"job {state}, which it depends on, is {state}"


async def test_a_parent_that_people_cancel_or_delete_has_failed(store: Store) -> None:
    await put(store, "cancelled", "deleted")
    await put(store, "a", spec=after("cancelled"))
    await put(store, "b", spec=after("deleted"))
    assert await store.cancel(["cancelled"]) == {"cancelled"}
    assert await store.delete(["deleted"]) == {"deleted"}
    await settle(store)
    for id, how in (("a", "cancelled"), ("b", "deleted")):
        child = await job_of(store, id)
        assert child.state is State.CANCELLED
        assert child.error is not None
        assert child.error.message == f"job {how}, which it depends on, is {how}"


async def test_a_dependent_that_runs_anyway_waits_for_the_end_only(store: Store) -> None:
    await put(store, "a", "b", queue="parents")
    await put(store, "child", spec=after("a", "b", runs_anyway=True))
    await end(store, "a", State.DEAD, "parents")
    await settle(store)
    assert await state_of(store, "child") is State.BLOCKED
    assert await store.delete(["b"]) == {"b"}
    await settle(store)
    assert await state_of(store, "child") is State.PENDING


async def test_of_two_in_one_call_the_first_counts_though_nothing_is_kept_of_it(
    store: Store,
) -> None:
    await bring(store, "dead", State.DEAD)
    twins = [new_job("child", spec=after("dead", keep=0)), new_job("child")]
    assert await store.insert(twins) == [Receipt("child"), Receipt("child", duplicate=True)]
    assert not await store.get(["child"])


async def test_the_first_of_an_id_in_one_call_keeps_another_one_from_replacing(
    store: Store,
) -> None:
    await bring(store, "dead", State.DEAD)
    await put(store, "holder", unique="k", spec=Spec("work", b"before"))
    first = new_job("child", spec=after("dead", keep=0))
    second = new_job("child", unique="k", conflict="replace")
    assert await store.insert([first, second]) == [
        Receipt("child"),
        Receipt("child", duplicate=True),
    ]
    assert (await job_of(store, "holder")).spec.payload == b"before"


async def test_a_parent_that_has_failed_already_cancels_at_once(store: Store) -> None:
    await bring(store, "dead", State.DEAD)
    await put(store, "child", spec=after("dead"))
    await put(store, "brave", spec=after("dead", runs_anyway=True))
    child = await job_of(store, "child")
    assert (child.state, child.attempt) == (State.CANCELLED, 0)
    assert child.error is not None
    assert child.error.message == "job dead, which it depends on, is dead"
    assert await state_of(store, "brave") is State.PENDING
    assert await counts(store) == {State.DEAD: 1, State.CANCELLED: 1, State.PENDING: 1}


async def test_orphans_orphan_their_own_dependents(store: Store) -> None:
    await put(store, "root")
    await put(store, "child", spec=after("root"))
    await put(store, "grandchild", spec=after("child"), queue="other")
    await put(store, "brave", spec=after("child", runs_anyway=True), queue="other")
    await end(store, "root", State.DEAD)
    await settle(store)
    assert await state_of(store, "child") is State.CANCELLED
    grandchild = await job_of(store, "grandchild")
    assert grandchild.state is State.CANCELLED
    assert grandchild.error is not None
    # The root of it all is what a person looks for.
    assert grandchild.error.message == "job root, which it depends on, is dead"
    assert await state_of(store, "brave") is State.PENDING


async def test_a_blocked_job_can_be_cancelled_or_deleted(store: Store) -> None:
    await put(store, "a", queue="parents")
    await put(store, "x", "y", "z", spec=after("a"))
    assert await store.cancel(["x"]) == {"x"}
    assert await store.delete(["y"]) == {"y"}
    await end(store, "a", State.COMPLETED, "parents")
    await settle(store)
    assert await state_of(store, "x") is State.CANCELLED
    assert await state_of(store, "y") is None
    assert await state_of(store, "z") is State.PENDING


async def test_a_replayed_orphan_waits_again_for_parents_that_are_live(store: Store) -> None:
    await put(store, "a", queue="parents")
    await put(store, "child", spec=after("a"))
    await end(store, "a", State.DEAD, "parents")
    await settle(store)
    assert await store.replay(["a", "child"]) == {"a", "child"}
    child = await job_of(store, "child")
    assert (child.state, child.waits_for) == (State.BLOCKED, ("a",))
    await end(store, "a", State.COMPLETED, "parents")
    await settle(store)
    assert await state_of(store, "child") is State.PENDING


async def test_a_replayed_orphan_of_a_parent_that_stays_dead_runs(store: Store) -> None:
    await bring(store, "a", State.DEAD, queue="parents")
    await put(store, "child", spec=after("a"))
    assert await store.replay(["child"]) == {"child"}
    assert await state_of(store, "child") is State.PENDING


async def test_a_blocked_job_holds_its_unique_key(store: Store) -> None:
    await put(store, "a", queue="parents")
    await put(store, "child", spec=after("a"), unique="key")
    receipts = await store.insert([new_job("rival", unique="key")])
    assert list(receipts) == [Receipt("child", duplicate=True)]
    await end(store, "a", State.DEAD, "parents")
    await settle(store)
    await put(store, "rival", unique="key")


async def test_dependents_that_were_moved_away_disturb_nobody(store: Store) -> None:
    await put(store, "a", queue="parents")
    await put(store, "child", spec=after("a"))
    child = await job_of(store, "child")
    assert await store.delete(["child"], moved=True) == {"child"}
    await end(store, "a", State.COMPLETED, "parents")
    await settle(store)
    assert await state_of(store, "child") is None
    assert list(await store.restore([child])) == [Receipt("child")]
    await settle(store)
    assert await state_of(store, "child") is State.PENDING


async def test_a_parent_that_is_moved_leaves_its_dependents_blocked(store: Store) -> None:
    await put(store, "a", queue="parents")
    await put(store, "child", spec=after("a"))
    parent = await job_of(store, "a")
    assert await store.delete(["a"], moved=True) == {"a"}
    await settle(store)
    assert (await job_of(store, "child")).waits_for == ("a",)
    assert list(await store.restore([parent])) == [Receipt("a")]
    await end(store, "a", State.COMPLETED, "parents")
    await settle(store)
    assert await state_of(store, "child") is State.PENDING
