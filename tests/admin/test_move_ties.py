"""What moves besides single jobs: who waits for whom, schedules, and keys of the API."""

from typing import Any

import msgspec
import pytest

from windlass.admin.holds import NOTES
from windlass.admin.move import move
from windlass.core.apikey import ApiKey, Role
from windlass.core.model import Job, Spec
from windlass.core.schedule import Schedule
from windlass.core.states import State
from windlass.errors import StoreUnavailable
from windlass.stores.memory import MemoryStore
from windlass.testing.clock import FakeClock
from windlass.testing.faults import FaultyStore
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


def key(id: str, *roles: Role) -> ApiKey:
    return ApiKey(id, id.encode().ljust(32), roles, expires_at=1)


async def test_keys_are_taken_along_as_the_source_has_them(clock: FakeClock) -> None:
    source, target = MemoryStore(clock), MemoryStore(clock)
    await target.put_keys([key("a", Role.ADMIN), key("c", Role.WORK)])
    await source.put_keys([key("a", Role.READ), key("b", Role.OPERATE)])
    await move(source, target)
    kept = [key("a", Role.READ), key("b", Role.OPERATE), key("c", Role.WORK)]
    assert list(await target.keys()) == kept
    assert list(await source.keys()) == []
    await move(source, target)
    assert list(await target.keys()) == kept


async def test_that_there_were_keys_moves_along_and_so_do_ended_logins(clock: FakeClock) -> None:
    source, target = MemoryStore(clock), MemoryStore(clock)
    await source.put_keys([key("a", Role.READ)])
    await source.drop_keys(["a"])
    await source.end_logins({"a:1": clock() + 1_000})
    await move(source, target)
    assert (list(await target.keys()), await target.had_keys()) == ([], True)
    assert dict(await target.ended_logins()) == {"a:1": clock() + 1_000}
    fresh, other = MemoryStore(clock), MemoryStore(clock)
    await move(fresh, other)
    assert not await other.had_keys()


@pytest.mark.parametrize("lost", [False, True], ids=["fails", "is-lost"])
@pytest.mark.parametrize(
    ("side", "name"), [("source", "keys"), ("target", "put_keys"), ("source", "drop_keys")]
)
async def test_a_key_is_in_one_store_at_least_wherever_a_move_ends(
    clock: FakeClock, side: str, name: str, lost: bool
) -> None:
    plain = {"source": MemoryStore(clock), "target": MemoryStore(clock)}
    await plain["source"].put_keys([key("a", Role.READ)])
    await put(plain["source"], "job")
    faulty: dict[str, Any] = dict(plain)
    faulty[side] = FaultyStore(plain[side])
    (faulty[side].lose if lost else faulty[side].fail)[name] = 1
    with pytest.raises(StoreUnavailable):
        await move(faulty["source"], faulty["target"])
    assert [*await plain["source"].keys(), *await plain["target"].keys()]
    await move(faulty["source"], faulty["target"])
    assert list(await plain["source"].keys()) == []
    assert list(await plain["target"].keys()) == [key("a", Role.READ)]
    assert await state_of(plain["target"], "job") is State.PENDING
