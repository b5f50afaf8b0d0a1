"""What moves besides single jobs: who waits for whom, and schedules."""

import msgspec

from windlass.admin.holds import NOTES
from windlass.admin.move import move
from windlass.core.model import Job, Spec
from windlass.core.schedule import Schedule
from windlass.core.states import State
from windlass.stores.memory import MemoryStore
from windlass.testing.clock import FakeClock
from windlass.testing.jobs import claim_all, finish, listing, put, state_of


async def jobs_of(store: MemoryStore) -> dict[str, Job]:
    jobs = await listing(store)
    return {job.id: msgspec.structs.replace(job, ref=0) for job in jobs if job.queue != NOTES}


async def test_dependents_wait_on_in_the_target(clock: FakeClock) -> None:
    source, target = MemoryStore(clock), MemoryStore(clock)
    await put(source, "a", "b", queue="parents")
    await put(source, "child", spec=Spec("work", b"", parents=("a", "b")))
    await put(source, "grandchild", spec=Spec("work", b"", parents=("child",)))
    before = await jobs_of(source)
    await move(source, target)
    assert await jobs_of(target) == before
    for parent in await claim_all(target, "parents"):
        assert await finish(target, parent, State.COMPLETED)
    assert await state_of(target, "child") is State.PENDING
    assert await state_of(target, "grandchild") is State.BLOCKED


async def test_schedules_go_on_where_they_were(clock: FakeClock) -> None:
    source, target = MemoryStore(clock), MemoryStore(clock)
    work = Spec("work", b"")
    await source.put_schedules([Schedule("a", "@every 60s", work), Schedule("b", "@daily", work)])
    await source.pause_schedules(["b"], True)
    clock.advance(60)
    (first, _) = await source.schedules()
    assert await source.tick(first, clock() // 60_000 * 60_000) is not None
    before = list(await source.schedules())
    await move(source, target)
    assert list(await target.schedules()) == before
    assert list(await source.schedules()) == []
    assert await state_of(target, before[0].job) is State.PENDING
