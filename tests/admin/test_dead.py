"""Dead jobs by what killed them."""

from windlass.admin.dead import group_dead
from windlass.core.model import Failure, NewJob, Spec, Transition
from windlass.core.states import State
from windlass.stores.memory import MemoryStore
from windlass.testing.clock import FakeClock


async def die(
    store: MemoryStore, clock: FakeClock, id: str, message: str, queue: str = "a"
) -> None:
    """Let a job die a second after the one before."""
    clock.advance(1)
    await store.insert([NewJob(id, Spec("ship", b""), queue)])
    (job,) = await store.claim({queue: 1}, 1, 60_000, "w")
    error = Failure("LookupError", message)
    await store.finish([Transition(id, job.fence, State.DEAD, error=error)])


async def test_the_largest_group_comes_first(store: MemoryStore, clock: FakeClock) -> None:
    await die(store, clock, "one", "the printer burns")
    for number in range(3):
        await die(store, clock, f"order-{number}", f"order {number} is gone", "b")
    found = await group_dead(store)
    assert [(group.count, group.pattern) for group in found.groups] == [
        (3, "order … is gone"),
        (1, "the printer burns"),
    ]
    assert (found.looked_at, found.complete) == (4, True)
    first = found.groups[0]
    assert (first.task, first.kind, first.sample) == ("ship", "LookupError", "order-2")
    assert first.last_at - first.first_at == 2_000


async def test_groups_may_be_narrowed(store: MemoryStore, clock: FakeClock) -> None:
    await die(store, clock, "one", "no")
    await die(store, clock, "two", "no", "b")
    assert (await group_dead(store, queue="b")).groups[0].sample == "two"
    assert (await group_dead(store, task="other")).groups == ()


async def test_only_so_many_are_looked_at(store: MemoryStore, clock: FakeClock) -> None:
    for number in range(5):
        await die(store, clock, str(number), "no")
    found = await group_dead(store, most=3)
    assert (found.looked_at, found.complete) == (3, False)
    assert (found.groups[0].count, found.groups[0].sample) == (3, "4")


async def test_a_job_without_an_error_is_in_a_group_too(
    store: MemoryStore, clock: FakeClock
) -> None:
    await store.insert([NewJob("x", Spec("ship", b""))])
    (job,) = await store.claim({"default": 1}, 1, 60_000, "w")
    await store.finish([Transition("x", job.fence, State.DEAD)])
    (group,) = (await group_dead(store)).groups
    assert (group.kind, group.pattern, group.count) == ("Unknown", "", 1)


async def test_a_store_without_dead_jobs_has_no_groups(store: MemoryStore) -> None:
    found = await group_dead(store)
    assert (found.groups, found.looked_at, found.complete) == ((), 0, True)
