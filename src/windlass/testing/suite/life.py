"""The life of a store: opening, migrating, closing, and what other handles see."""

from __future__ import annotations

from ...core.states import State
from ...stores.contract import Store
from ..jobs import (
    REACHABLE,
    bring,
    claim,
    claim_one,
    counts,
    finish,
    ids,
    listing,
    put,
    state_of,
)


async def test_an_open_store_answers(store: Store) -> None:
    await store.ping()


async def test_an_open_store_needs_no_migration(store: Store) -> None:
    assert list(await store.migrate()) == []
    assert list(await store.migrate()) == []


async def test_migrating_again_leaves_the_jobs_alone(store: Store) -> None:
    for state in REACHABLE:
        await bring(store, state, state, queue=state)
    before = await store.get(list(REACHABLE))
    await store.migrate()
    assert await store.get(list(REACHABLE)) == before
    assert len(await listing(store)) == len(REACHABLE)


async def test_another_handle_sees_the_same(store: Store, another_store: Store) -> None:
    await put(store, "a")
    await another_store.pause("other")
    assert await state_of(another_store, "a") is State.PENDING
    assert await counts(another_store) == {State.PENDING: 1}
    assert list(await store.queues()) == list(await another_store.queues())
    assert ids(await claim(another_store)) == ["a"]
    assert await state_of(store, "a") is State.ACTIVE


async def test_another_handle_can_finish(store: Store, another_store: Store) -> None:
    await put(store, "a")
    job = await claim_one(store)
    assert await finish(another_store, job, State.COMPLETED, result=b"ok")
    assert not await finish(store, job, State.COMPLETED)


async def test_closing_twice(store: Store, another_store: Store) -> None:
    await another_store.close()
    await another_store.close()


async def test_blocking_is_said_and_fixed(store: Store) -> None:
    assert store.blocking in (True, False)
