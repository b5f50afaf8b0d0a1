"""An audit finds what is wrong in a store, and nothing in one that is in order."""

from msgspec.structs import replace

from windlass.admin.doctor import Chart, diagnose, examine
from windlass.core.model import Spec
from windlass.core.states import State
from windlass.stores.memory import MemoryStore
from windlass.testing.clock import FakeClock
from windlass.testing.jobs import bring, claim_one, foreign, new_job, put

LATE = 120.0


async def chart(store: MemoryStore, clock: FakeClock) -> Chart:
    found = await examine(store, clock)
    # That memory forgets is said of every memory store.
    return replace(found, risks=())


def kinds(found: Chart) -> list[tuple[str, bool]]:
    return [(each.kind, each.is_fault) for each in diagnose(found)]


async def test_a_store_in_order_has_no_findings(store: MemoryStore, clock: FakeClock) -> None:
    for state in (State.COMPLETED, State.CANCELLED):
        await bring(store, state.value, state)
    assert not diagnose(await chart(store, clock))


async def test_a_lease_that_nobody_rescues_is_a_fault(store: MemoryStore, clock: FakeClock) -> None:
    await put(store, "lonely")
    await claim_one(store)
    assert ("lease", True) not in kinds(await chart(store, clock))
    clock.advance(LATE + 60)
    (finding,) = [each for each in diagnose(await chart(store, clock)) if each.kind == "lease"]
    assert finding.is_fault
    assert "lonely" in finding.text


async def test_a_dependent_that_nobody_unblocks_is_a_fault(
    store: MemoryStore, clock: FakeClock
) -> None:
    await put(store, "parent")
    await store.insert([new_job("child", Spec("work", b"", parents=("parent",)))])
    found = await chart(store, clock)
    assert ("dependent", True) not in kinds(found)
    ended = foreign("parent", State.COMPLETED, finished_at=clock() - 120_000)
    assert ("dependent", True) in kinds(replace(found, parents={"parent": ended}))
    assert ("dependent", True) in kinds(replace(found, parents={}))
    just_now = replace(ended, finished_at=clock())
    assert ("dependent", True) not in kinds(replace(found, parents={"parent": just_now}))


async def test_a_counter_that_is_off_is_a_fault(store: MemoryStore, clock: FakeClock) -> None:
    await put(store, "a", "b")
    found = await chart(store, clock)
    assert ("counter", True) not in kinds(found)
    off = replace(found, counted={"default": {State.PENDING: 1}})
    (finding,) = [each for each in diagnose(off) if each.kind == "counter"]
    assert finding.text == "The queue default says 2 pending jobs and has 1."


async def test_where_there_are_too_many_jobs_small_queues_are_counted_one_by_one(
    store: MemoryStore, clock: FakeClock
) -> None:
    await put(store, "a", queue="small")
    await put(store, *(f"job-{n}" for n in range(30)), queue="large")
    await bring(store, "done", State.COMPLETED)
    found = await examine(store, clock, most=20)
    assert found.counted["small"][State.PENDING] == 1
    assert State.PENDING not in found.counted["large"]
    assert found.counted["default"][State.COMPLETED] == 1
    assert found.counted["large"][State.COMPLETED] == 0
    assert ("counter", True) not in kinds(found)


async def test_clocks_that_differ_are_a_risk(store: MemoryStore, clock: FakeClock) -> None:
    ahead = FakeClock(clock() + 3_600_000)
    (finding,) = diagnose(replace(await examine(store, ahead), risks=()))
    assert (finding.kind, finding.is_fault) == ("clock", False)
    assert "ahead of" in finding.text


async def test_a_queue_without_a_worker_and_an_unsafe_engine_are_risks(
    store: MemoryStore, clock: FakeClock
) -> None:
    await put(store, "waiting")
    found = await examine(store, clock)
    assert ("risk", False) in kinds(found)
    assert ("attention", False) in kinds(found)
