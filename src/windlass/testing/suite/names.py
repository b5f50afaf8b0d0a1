"""Ids, queues, tasks, keys and workers may have any printable name, and none is confused."""

from __future__ import annotations

from ...core.ids import MAX_ID_LENGTH, checked_id, new_id
from ...core.model import Lease, Receipt, Spec, Transition
from ...core.states import State
from ...stores.contract import Store
from ..jobs import (
    LEASE,
    claim,
    claim_one,
    ids,
    job_of,
    listing,
    new_job,
    put,
    state_of,
)

ODD_NAMES = (
    "a b",
    "a:b",
    "a/b\\c",
    "a,b;c",
    "*",
    "?",
    "[a-z]",
    "{tag}",
    "{}",
    "%",
    "%s%d%%",
    "_",
    "$1",
    ":name",
    "@name",
    "#",
    "'; DROP TABLE jobs; --",
    "\"quoted\" 'twice' `thrice`",
    "NULL",
    "0",
    "00",
    "1e3",
    "naïve",
    "日本語",
    "💥",
    "ﷺ",
    "-",
    "--help",
    "../../etc/passwd",
)

LOOK_ALIKE = (
    "name",
    "Name",
    "NAME",
    "namé",
    "name\u0301",
    "nam",
    "name.",
    "straße",
    "strasse",
    "ﬁn",
    "fin",
)
"""Names that a careless collation takes for one another."""


async def test_odd_ids(store: Store) -> None:
    names = [checked_id(name) for name in ODD_NAMES]
    await put(store, *names)
    assert ids(await claim(store)) == names
    assert sorted(await store.get(names)) == sorted(names)
    leases = [job.lease for job in (await store.get(names)).values()]
    assert await store.renew(leases, LEASE) == set(names)
    moves = [Transition(lease.id, lease.fence, State.DEAD) for lease in leases]
    assert await store.finish(moves) == set(names)
    assert await store.replay(names) == set(names)
    assert await store.cancel(names) == set(names)
    assert sorted(ids(await listing(store, limit=3))) == sorted(names)
    assert await store.delete(names) == set(names)


async def test_odd_queues(store: Store) -> None:
    for n, queue in enumerate(ODD_NAMES):
        await put(store, f"job-{n}", queue=queue)
        assert (await job_of(store, f"job-{n}")).queue == queue
    assert [stats.name for stats in await store.queues()] == sorted(ODD_NAMES)
    for n, queue in enumerate(ODD_NAMES):
        assert ids(await listing(store, queue=queue)) == [f"job-{n}"]
        await store.pause(queue)
        assert await claim(store, queue=queue) == []
        await store.resume(queue)
        assert ids(await claim(store, queue=queue)) == [f"job-{n}"]


async def test_odd_tasks(store: Store) -> None:
    for n, task in enumerate(ODD_NAMES):
        await store.insert([new_job(f"job-{n}", Spec(task, b""))])
        assert (await job_of(store, f"job-{n}")).task == task
    for n, task in enumerate(ODD_NAMES):
        assert ids(await listing(store, task=task)) == [f"job-{n}"]


async def test_odd_unique_keys(store: Store) -> None:
    keys = [*ODD_NAMES, "", " ", "a " * 50]
    for n, key in enumerate(keys):
        await put(store, f"job-{n}", unique=key)
        assert (await job_of(store, f"job-{n}")).unique == key
    receipts = await store.insert([new_job(f"late-{n}", unique=key) for n, key in enumerate(keys)])
    assert receipts == [Receipt(f"job-{n}", duplicate=True) for n in range(len(keys))]


async def test_odd_workers(store: Store) -> None:
    for n, worker in enumerate(ODD_NAMES):
        await put(store, f"job-{n}")
        assert (await claim_one(store, worker=worker)).worker == worker
        assert (await job_of(store, f"job-{n}")).worker == worker


async def test_odd_roles_and_holders(store: Store) -> None:
    for name in ODD_NAMES:
        term = await store.elect(name, name, 1_000)
        assert term is not None
        assert term.holder == name
        assert await store.elect(name, "other", 1_000) is None


async def test_ids_that_look_alike(store: Store) -> None:
    await put(store, *LOOK_ALIKE)
    assert ids(await claim(store)) == list(LOOK_ALIKE)
    job = await job_of(store, "Name")
    assert await store.finish([Transition("name", job.fence, State.COMPLETED)]) == {"name"}
    assert await state_of(store, "Name") is State.ACTIVE
    assert await store.renew([Lease("NAME", job.fence)], LEASE) == {"NAME"}


async def test_queues_that_look_alike(store: Store) -> None:
    for n, queue in enumerate(LOOK_ALIKE):
        await put(store, f"job-{n}", queue=queue)
    assert [stats.name for stats in await store.queues()] == sorted(LOOK_ALIKE)
    await store.pause("Name")
    for n, queue in enumerate(LOOK_ALIKE):
        claimed = ids(await claim(store, queue=queue))
        assert claimed == ([] if queue == "Name" else [f"job-{n}"])


async def test_keys_that_look_alike(store: Store) -> None:
    keys = [*LOOK_ALIKE, "name "]
    for n, key in enumerate(keys):
        await put(store, f"job-{n}", unique=key)


async def test_tasks_that_look_alike(store: Store) -> None:
    await store.insert([new_job(task, Spec(task, b"")) for task in LOOK_ALIKE])
    for task in LOOK_ALIKE:
        assert ids(await listing(store, task=task)) == [task]


async def test_roles_and_holders_that_look_alike(store: Store) -> None:
    for role in LOOK_ALIKE:
        assert await store.elect(role, "name", 1_000) is not None
        assert await store.elect(role, "Name", 1_000) is None


async def test_ids_that_look_alike_are_listed_each_once(store: Store) -> None:
    await put(store, *LOOK_ALIKE)
    await claim(store)
    assert ids(await listing(store, states=(State.ACTIVE,), limit=2)) == sorted(LOOK_ALIKE)


async def test_the_longest_ids(store: Store) -> None:
    names = [letter * MAX_ID_LENGTH for letter in "aé日💥"]
    names.append("a" * (MAX_ID_LENGTH - 1) + "b")
    await put(store, *names)
    assert ids(await claim(store)) == names


async def test_ids_as_they_are_made(store: Store) -> None:
    names = [new_id() for _ in range(100)]
    await put(store, *names)
    assert ids(await claim(store)) == names
