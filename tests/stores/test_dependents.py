"""Dependents on SQL stores: those who meet at one job, and those who are cut off in between."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import AsyncExitStack
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from tests.conformance.stores import maker
from windlass.core.model import Lease, Spec, Transition
from windlass.core.states import State
from windlass.errors import StoreUnavailable
from windlass.stores.contract import Store
from windlass.stores.guest.guest import AsyncGuest
from windlass.stores.guest.recognize import guest_of
from windlass.stores.sql.dependents import BATCH
from windlass.stores.sql.operation import Plan, T
from windlass.stores.sql.rest import Rest
from windlass.stores.sql.store import SqlStore
from windlass.testing.clock import FakeClock
from windlass.testing.jobs import (
    LEASE,
    claim_all,
    claim_one,
    counts,
    finish,
    ids,
    job_of,
    new_job,
    put,
    state_of,
)

ENGINES = ("sqlite", "postgres", "mariadb")
MANY = 2 * BATCH + 50


@pytest.fixture(params=ENGINES)
async def stores(
    request: pytest.FixtureRequest, tmp_path: Path
) -> AsyncIterator[Sequence[SqlStore]]:
    """Three handles on one store, each with connections of its own."""
    handle = maker(request.param, request)(tmp_path, FakeClock())
    async with AsyncExitStack() as stack:
        opened = []
        for _ in range(3):
            store = handle()
            assert isinstance(store, SqlStore)
            await store.open()
            stack.push_async_callback(store.close)
            opened.append(store)
        yield opened


@pytest.fixture
def store(stores: Sequence[SqlStore]) -> SqlStore:
    return stores[0]


def after(*parents: str, runs_anyway: bool = False) -> Spec:
    return Spec("work", b"", parents=parents, runs_anyway=runs_anyway)


async def settle(store: Store) -> None:
    while await store.unblock(BATCH):
        pass


async def with_children(store: Store, parent: str, number: int) -> list[str]:
    """A pending job of the queue `parents` and so many that depend on it."""
    await put(store, parent, queue="parents")
    names = [f"{parent}-{n:04}" for n in range(number)]
    await store.insert([new_job(name, after(parent)) for name in names])
    return names


async def end_and_be_killed(store: SqlStore, state: State, monkeypatch: pytest.MonkeyPatch) -> None:
    """End the next parent in one transaction, and nothing more."""

    async def killed(rest: Rest) -> None:
        """What would go on is no more."""

    job = await claim_one(store, queue="parents")
    with monkeypatch.context() as patch:
        patch.setattr(Rest, "begin", killed)
        assert await finish(store, job, state)


async def test_parents_that_end_at_the_same_moment_release_their_dependent_once(
    stores: Sequence[SqlStore],
) -> None:
    for turn in range(10):
        names = [f"{turn}-{n}" for n in range(len(stores))]
        await put(stores[0], *names, queue="parents")
        await put(stores[0], f"{turn}-end", spec=after(*names))
        jobs = await claim_all(stores[0], "parents")
        await asyncio.gather(
            *(finish(store, job, State.COMPLETED) for store, job in zip(stores, jobs, strict=True))
        )
        await settle(stores[0])
        assert ids(await claim_all(stores[0])) == [f"{turn}-end"]
        assert (await counts(stores[0]))[State.ACTIVE] == turn + 1


async def test_a_parent_that_dies_while_another_completes_orphans_once(
    stores: Sequence[SqlStore],
) -> None:
    for turn in range(10):
        await put(stores[0], "good", "bad", queue="parents")
        await put(stores[0], "end", spec=after("good", "bad"))
        await put(stores[0], "brave", spec=after("good", "bad", runs_anyway=True))
        good, bad = await claim_all(stores[0], "parents")
        await asyncio.gather(
            finish(stores[0], good, State.COMPLETED), finish(stores[1], bad, State.DEAD)
        )
        await settle(stores[2])
        end = await job_of(stores[0], "end")
        assert end.error is not None
        assert end.error.message == "job bad, which it depends on, is dead"
        assert await counts(stores[0]) == {State.CANCELLED: 1, State.PENDING: 1}, turn
        await stores[0].delete(["good", "bad", "end", "brave"])


async def test_a_dependent_that_comes_while_its_parent_ends_does_not_stay_blocked(
    stores: Sequence[SqlStore],
) -> None:
    for turn in range(10):
        parent, child = f"{turn}", f"{turn}-child"
        await put(stores[0], parent, queue="parents")
        job = await claim_one(stores[0], queue="parents")
        await asyncio.gather(
            stores[1].insert([new_job(child, after(parent))]),
            finish(stores[0], job, State.COMPLETED),
            stores[2].insert([new_job(f"{child}-too", after(parent))]),
        )
        await settle(stores[0])
        assert await state_of(stores[0], child) is State.PENDING
        assert await state_of(stores[0], f"{child}-too") is State.PENDING


async def perform(connection: Any, store: SqlStore, plan: Plan[T]) -> T:
    """Run an operation in a transaction that stays open."""
    guest = guest_of(connection)
    if isinstance(guest, AsyncGuest):
        return await guest.perform(store.dialect, plan)
    return guest.perform(store.dialect, plan)


async def is_held_up(task: asyncio.Task[Any]) -> bool:
    """Whether it waits for a lock: all that it does by itself takes a fraction of this."""
    done, _ = await asyncio.wait({task}, timeout=0.5)
    return not done


async def test_the_end_of_a_parent_waits_for_a_dependent_that_is_being_inserted(
    stores: Sequence[SqlStore],
) -> None:
    store, other, _ = stores
    await put(store, "parent", queue="parents")
    job = await claim_one(store, queue="parents")
    async with other.loans.alend() as connection:
        await perform(connection, other, other.inserting([new_job("child", after("parent"))]))
        ending = asyncio.create_task(finish(store, job, State.COMPLETED))
        if not await is_held_up(ending):
            # Put aside, so that it holds up no other; its worker writes it later.
            with pytest.raises(StoreUnavailable) as caught:
                await ending
            assert caught.value.busy
            ending = asyncio.create_task(
                until_it_is_free(lambda: finish(store, job, State.COMPLETED))
            )
    assert await ending
    assert await state_of(store, "child") is State.PENDING


async def until_it_is_free(act: Callable[[], Awaitable[T]]) -> T:
    while True:
        try:
            return await act()
        except StoreUnavailable as error:
            if not error.busy:
                raise


@pytest.mark.parametrize("stores", ["postgres", "mariadb"], indirect=True)
async def test_a_transaction_that_holds_a_parent_holds_up_no_lease(
    stores: Sequence[SqlStore],
) -> None:
    store, other, _ = stores
    await put(store, "parent", "beside", queue="parents")
    jobs = await claim_all(store, "parents")
    async with other.loans.alend() as connection:
        await perform(connection, other, other.inserting([new_job("child", after("parent"))]))
        async with asyncio.timeout(30):
            assert await store.renew([job.lease for job in jobs], 2 * LEASE) == {"parent", "beside"}
        beside, before = await job_of(store, "beside"), jobs[1].lease_until
        assert beside.lease_until is not None
        assert before is not None
        assert beside.lease_until == before + LEASE
        late = [Lease(job.id, job.fence + 1) for job in jobs]
        assert await store.renew(late, LEASE) == frozenset()
    assert await store.renew([job.lease for job in jobs], 2 * LEASE) == {"parent", "beside"}
    parent = await job_of(store, "parent")
    assert parent.lease_until == beside.lease_until


async def test_of_two_parents_the_one_that_ends_last_releases_their_dependent(
    stores: Sequence[SqlStore],
) -> None:
    store, other, _ = stores
    await put(store, "a", "b", queue="parents")
    await put(store, "child", spec=after("a", "b"))
    a, b = await claim_all(store, "parents")
    move = Transition("a", a.fence, State.COMPLETED, queue=a.queue, ref=a.ref)
    async with other.loans.alend() as connection:
        assert await perform(connection, other, other.finishing([move])) == {"a"}
        ending = asyncio.create_task(finish(store, b, State.COMPLETED))
        assert await is_held_up(ending)
        assert (await job_of(store, "child")).state is State.BLOCKED
    assert await ending
    assert ids(await claim_all(store)) == ["child"]


async def test_a_dependent_that_is_cancelled_while_its_parent_ends_is_so_once(
    stores: Sequence[SqlStore],
) -> None:
    for _ in range(10):
        await put(stores[0], "parent", queue="parents")
        await put(stores[0], "child", spec=after("parent"))
        job = await claim_one(stores[0], queue="parents")
        await asyncio.gather(stores[1].cancel(["child"]), finish(stores[0], job, State.COMPLETED))
        await settle(stores[0])
        assert await counts(stores[0]) == {State.CANCELLED: 1}
        assert await stores[0].delete(["parent", "child"]) == {"parent", "child"}


async def test_what_a_killed_process_left_is_done_by_another(
    stores: Sequence[SqlStore], monkeypatch: pytest.MonkeyPatch
) -> None:
    names = await with_children(stores[0], "a", MANY)
    await end_and_be_killed(stores[0], State.COMPLETED, monkeypatch)
    assert (await counts(stores[0])).get(State.BLOCKED, 0) >= MANY - BATCH
    steps = await asyncio.gather(*(store.unblock(BATCH) for store in stores))
    assert max(steps) <= BATCH
    await settle(stores[1])
    assert await counts(stores[0]) == {State.PENDING: MANY}
    assert sorted(ids(await claim_all(stores[2]))) == names


async def test_orphans_of_orphans_are_called_off_in_bounded_steps(
    store: SqlStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    await put(store, "root", queue="parents")
    names = ["root", *(f"{n:04}" for n in range(MANY))]
    await store.insert([new_job(id, after(parent)) for parent, id in pairwise(names)])
    await end_and_be_killed(store, State.DEAD, monkeypatch)
    assert (await counts(store))[State.BLOCKED] == MANY - BATCH
    while looked := await store.unblock(7):
        assert looked <= 7
    assert await counts(store) == {State.CANCELLED: MANY}
    last = await job_of(store, names[-1])
    assert last.error is not None
    assert last.error.message == "job root, which it depends on, is dead"


async def test_what_is_owed_does_not_concern_a_later_life_of_the_parent(
    store: SqlStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    names = await with_children(store, "a", MANY)
    await end_and_be_killed(store, State.DEAD, monkeypatch)
    assert await store.replay(["a"]) == {"a"}
    new = [f"new-{n:04}" for n in range(MANY)]
    await put(store, *new, spec=after("a"))
    await settle(store)
    assert await counts(store) == {State.CANCELLED: len(names), State.BLOCKED: len(new)}
    await end_and_be_killed(store, State.COMPLETED, monkeypatch)
    await settle(store)
    assert ids(await claim_all(store)) == new


async def until_nothing_is_blocked(store: SqlStore) -> None:
    async with asyncio.timeout(30):
        while State.BLOCKED in await counts(store):
            pass


async def test_who_ends_a_parent_of_many_sees_to_all_of_them(store: SqlStore) -> None:
    names = await with_children(store, "a", MANY)
    assert await finish(store, await claim_one(store, queue="parents"), State.COMPLETED)
    await until_nothing_is_blocked(store)
    assert ids(await claim_all(store)) == names


async def test_a_parent_that_is_deleted_or_cancelled_orphans_all_of_many(store: SqlStore) -> None:
    for parent, end in (("a", store.delete), ("b", store.cancel)):
        names = await with_children(store, parent, MANY)
        assert await end([parent]) == {parent}
        await until_nothing_is_blocked(store)
        assert await counts(store) == {State.CANCELLED: MANY}
        assert await store.delete(names) == set(names)


async def test_a_parent_and_its_dependent_that_are_restored_at_once_find_each_other(
    stores: Sequence[SqlStore],
) -> None:
    for turn in range(5):
        await put(stores[0], "parent", queue="parents")
        await put(stores[0], "child", spec=after("parent"))
        found = await stores[0].get(["parent", "child"])
        await stores[0].delete(["parent", "child"], moved=True)
        await asyncio.gather(
            stores[1].restore([found["parent"]]), stores[2].restore([found["child"]])
        )
        job = await claim_one(stores[0], queue="parents")
        assert await finish(stores[0], job, State.COMPLETED), turn
        assert await state_of(stores[0], "child") is State.PENDING
        await stores[0].delete(["parent", "child"])
