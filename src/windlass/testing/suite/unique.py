"""Unique keys: held by one live job, and free from the very step that ends it."""

from __future__ import annotations

from ...core.model import Receipt, Transition
from ...core.states import FINISHED, LIVE, State
from ...stores.contract import Store
from ..clock import FakeClock
from ..jobs import (
    BOOM,
    FLEETING,
    REACHABLE,
    bring,
    claim,
    claim_one,
    finish,
    job_of,
    new_job,
    put,
    state_of,
)


async def is_held_by(store: Store, key: str, holder: str) -> bool:
    """Whether an insert with this key is answered with `holder`; leaves no job behind."""
    [receipt] = await store.insert([new_job("probe", unique=key)])
    if not receipt.duplicate:
        await store.delete(["probe"])
    return receipt == Receipt(holder, duplicate=True)


async def test_every_live_state_holds_the_key(store: Store) -> None:
    for state in REACHABLE:
        await bring(store, f"{state}-job", state, queue=state, unique=f"{state}-key")
    for state in LIVE - {State.BLOCKED}:
        assert await is_held_by(store, f"{state}-key", f"{state}-job"), state


async def test_no_finished_state_holds_the_key(store: Store) -> None:
    for state in FINISHED:
        await bring(store, f"{state}-job", state, queue=state, unique=f"{state}-key")
        receipts = await store.insert([new_job(f"{state}-next", unique=f"{state}-key")])
        assert receipts == [Receipt(f"{state}-next")], state
        assert await state_of(store, f"{state}-job") is state


async def test_a_job_refused_by_its_key_is_not_stored(store: Store) -> None:
    await put(store, "a", unique="k")
    assert await store.insert([new_job("b", unique="k")]) == [Receipt("a", duplicate=True)]
    assert await state_of(store, "b") is None


async def test_an_id_counts_before_a_key(store: Store) -> None:
    await put(store, "a", unique="k")
    await put(store, "b")
    assert await store.insert([new_job("b", unique="k")]) == [Receipt("b", duplicate=True)]


async def test_a_key_holds_across_queues(store: Store) -> None:
    await put(store, "a", unique="k", queue="one")
    receipts = await store.insert([new_job("b", unique="k", queue="two")])
    assert receipts == [Receipt("a", duplicate=True)]


async def test_the_first_in_a_batch_gets_the_key(store: Store) -> None:
    batch = [new_job("a", unique="k"), new_job("b", unique="k"), new_job("c", unique="l")]
    receipts = await store.insert(batch)
    assert receipts == [Receipt("a"), Receipt("a", duplicate=True), Receipt("c")]
    assert await state_of(store, "b") is None


async def test_an_id_refused_by_its_key_can_come_again_in_the_same_batch(store: Store) -> None:
    batch = [new_job("a", unique="k"), new_job("b", unique="k"), new_job("b")]
    receipts = await store.insert(batch)
    assert receipts == [Receipt("a"), Receipt("a", duplicate=True), Receipt("b")]


async def test_a_duplicate_does_not_take_the_key(store: Store) -> None:
    await put(store, "a")
    receipts = await store.insert([new_job("a", unique="k"), new_job("b", unique="k")])
    assert receipts == [Receipt("a", duplicate=True), Receipt("b")]


async def test_keys_in_bulk(store: Store) -> None:
    batch = [new_job(f"job-{n}", unique=f"key-{n % 100}") for n in range(1_000)]
    receipts = await store.insert(batch)
    assert receipts == [Receipt(f"job-{n % 100}", duplicate=n >= 100) for n in range(1_000)]


async def test_no_key_is_no_duplicate(store: Store) -> None:
    receipts = await store.insert([new_job("a"), new_job("b")])
    assert receipts == [Receipt("a"), Receipt("b")]


async def test_finishing_frees_the_key_even_if_nothing_is_kept(store: Store) -> None:
    for state in (State.COMPLETED, State.CANCELLED):
        await put(store, "a", spec=FLEETING, unique="k")
        assert await finish(store, await claim_one(store), state)
        assert await state_of(store, "a") is None
        assert not await is_held_by(store, "k", "a")


async def test_cancelling_frees_the_key_even_if_nothing_is_kept(store: Store) -> None:
    await put(store, "a", spec=FLEETING, unique="k")
    assert await store.cancel(["a"]) == {"a"}
    assert not await is_held_by(store, "k", "a")


async def test_cancelling_an_active_job_frees_the_key(store: Store) -> None:
    await bring(store, "a", State.ACTIVE, unique="k")
    assert await store.cancel(["a"]) == {"a"}
    assert not await is_held_by(store, "k", "a")


async def test_deleting_frees_the_key(store: Store) -> None:
    for state in (State.PENDING, State.SCHEDULED, State.RETRY):
        await bring(store, state, state, queue=state, unique=state)
        assert await store.delete([state]) == {state}
        assert not await is_held_by(store, state, state)


async def test_deleting_a_finished_job_leaves_the_key_to_its_holder(store: Store) -> None:
    await bring(store, "old", State.DEAD, unique="k")
    await put(store, "new", unique="k")
    assert await store.delete(["old"]) == {"old"}
    assert await is_held_by(store, "k", "new")


async def test_pruning_a_finished_job_leaves_the_key_to_its_holder(
    store: Store, clock: FakeClock
) -> None:
    await bring(store, "old", State.COMPLETED, unique="k")
    await put(store, "new", unique="k")
    clock.advance(10 * 24 * 3600)
    assert await store.prune(10) == 1
    assert await is_held_by(store, "k", "new")


async def test_finishing_frees_the_keys_of_a_whole_batch(store: Store) -> None:
    names = [f"job-{n}" for n in range(20)]
    await store.insert([new_job(name, unique=name) for name in names])
    done = [Transition(job.id, job.fence, State.COMPLETED) for job in await claim(store)]
    await store.finish(done)
    receipts = await store.insert([new_job(f"next-{name}", unique=name) for name in names])
    assert receipts == [Receipt(f"next-{name}") for name in names]


async def test_going_on_does_not_free_the_key(store: Store) -> None:
    await put(store, "a", unique="k")
    for state in (State.RETRY, State.SCHEDULED, State.PENDING):
        assert await finish(store, await claim_one(store), state, error=BOOM)
        assert await is_held_by(store, "k", "a"), state
    assert (await job_of(store, "a")).unique == "k"


async def test_a_rescue_does_not_free_the_key(store: Store, clock: FakeClock) -> None:
    await bring(store, "a", State.ACTIVE, unique="k")
    clock.advance(60)
    assert await is_held_by(store, "k", "a")
    assert len(await store.rescue(10, 1_000, "w2")) == 1
    assert await is_held_by(store, "k", "a")


async def test_a_late_finish_does_not_free_the_key(store: Store) -> None:
    await put(store, "a", unique="k")
    late = await claim_one(store)
    assert await finish(store, late, State.PENDING)
    assert not await finish(store, late, State.COMPLETED)
    assert await is_held_by(store, "k", "a")


async def test_a_replayed_job_holds_its_key_again(store: Store) -> None:
    await bring(store, "a", State.DEAD, unique="k")
    assert await store.replay(["a"]) == {"a"}
    assert await is_held_by(store, "k", "a")
