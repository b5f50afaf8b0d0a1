"""Waiting for work. The only checks that take real time, and the bounds are generous.

A wait may end for nothing, so a check that it lasts asks for one long wait of several.
"""

from __future__ import annotations

import asyncio
import time

from ...core.states import State
from ...stores.contract import Store
from ..clock import FakeClock
from ..jobs import bring, claim_one, finish, put

PROMPT = 5.0
"""Far more than a wait that has a reason to end needs, and far less than `PATIENCE`."""
PATIENCE = 30.0
BRIEFLY = 0.1


async def waited(
    store: Store, *queues: str, every: bool = False, timeout: float = PATIENCE
) -> float:
    """How long one wait took."""
    wanted = () if every else queues or ("default",)
    start = time.monotonic()
    await asyncio.wait_for(store.wait(wanted, timeout), timeout + PROMPT)
    return time.monotonic() - start


async def lasts(store: Store, *queues: str, every: bool = False) -> bool:
    """Whether at least one of a few waits takes about as long as it may."""
    for _ in range(5):
        if await waited(store, *queues, every=every, timeout=BRIEFLY) > BRIEFLY / 2:
            return True
    return False


async def test_a_wait_ends_at_its_timeout(store: Store) -> None:
    assert await waited(store, timeout=BRIEFLY) < PROMPT
    assert await waited(store, timeout=0) < PROMPT


async def test_an_idle_wait_lasts(store: Store) -> None:
    assert await lasts(store)


async def test_a_pending_job_ends_it_at_once(store: Store) -> None:
    await put(store, "a")
    assert await waited(store) < PROMPT


async def test_any_of_the_queues_ends_it(store: Store) -> None:
    await put(store, "a", queue="two")
    assert await waited(store, "one", "two", "three") < PROMPT


async def test_a_job_of_another_queue_does_not(store: Store) -> None:
    await put(store, "a", queue="other")
    assert await lasts(store)


async def test_a_job_already_due_ends_it_at_once(store: Store, clock: FakeClock) -> None:
    await put(store, "a", delay=1_000)
    clock.advance(1)
    assert await waited(store) < PROMPT


async def test_a_retry_already_due_ends_it_at_once(store: Store, clock: FakeClock) -> None:
    await put(store, "a")
    assert await finish(store, await claim_one(store), State.RETRY, delay=1_000)
    clock.advance(1)
    assert await waited(store) < PROMPT


async def test_a_job_far_off_does_not(store: Store) -> None:
    await put(store, "a", delay=3_600_000)
    assert await lasts(store)


async def test_no_job_of_a_paused_queue_does(store: Store, clock: FakeClock) -> None:
    await put(store, "pending")
    await put(store, "due", delay=1_000)
    clock.advance(2)
    await store.pause("default")
    assert await lasts(store)


async def test_jobs_that_cannot_be_claimed_do_not(store: Store) -> None:
    for state in (State.ACTIVE, State.COMPLETED, State.DEAD, State.CANCELLED):
        await bring(store, state, state)
    assert await lasts(store)


async def woken(waiting: asyncio.Task[float]) -> bool:
    """Whether a wait that was under way ended long before its timeout."""
    return await asyncio.wait_for(waiting, PATIENCE + PROMPT) < PROMPT + BRIEFLY


async def under_way(store: Store, *, every: bool = False) -> asyncio.Task[float]:
    """A wait that had time to begin."""
    waiting = asyncio.create_task(waited(store, every=every))
    await asyncio.sleep(BRIEFLY)
    return waiting


async def test_an_insert_elsewhere_ends_it(store: Store, another_store: Store) -> None:
    waiting = await under_way(store)
    await put(another_store, "a")
    assert await woken(waiting)


async def test_a_release_elsewhere_ends_it(store: Store, another_store: Store) -> None:
    await put(another_store, "a")
    job = await claim_one(another_store)
    waiting = await under_way(store)
    assert await finish(another_store, job, State.PENDING, refund=True)
    assert await woken(waiting)


async def test_a_replay_elsewhere_ends_it(store: Store, another_store: Store) -> None:
    await bring(another_store, "a", State.DEAD)
    waiting = await under_way(store)
    assert await another_store.replay(["a"]) == {"a"}
    assert await woken(waiting)


async def test_resuming_elsewhere_ends_it(store: Store, another_store: Store) -> None:
    await put(another_store, "a")
    await another_store.pause("default")
    waiting = await under_way(store)
    await another_store.resume("default")
    assert await woken(waiting)


async def test_every_waiter_can_be_woken(store: Store, another_store: Store) -> None:
    waiting = [await under_way(store) for _ in range(3)]
    for n in range(3):
        await put(another_store, f"job-{n}")
        await asyncio.sleep(BRIEFLY)
    for wait in waiting:
        assert await woken(wait)


async def test_a_wait_can_be_cancelled(store: Store) -> None:
    waiting = await under_way(store)
    waiting.cancel()
    await asyncio.gather(waiting, return_exceptions=True)
    assert waiting.cancelled()
    await put(store, "a")
    assert await waited(store) < PROMPT


async def test_a_wait_for_every_queue_lasts_while_none_has_work(store: Store) -> None:
    assert await lasts(store, every=True)
    for state in (State.ACTIVE, State.COMPLETED, State.DEAD, State.CANCELLED):
        await bring(store, state, state, queue=state)
    await put(store, "far-off", delay=3_600_000, queue="later")
    assert await lasts(store, every=True)


async def test_pending_jobs_of_any_queue_end_a_wait_for_every_queue(store: Store) -> None:
    await put(store, "a", queue="never-heard-of")
    assert await waited(store, every=True) < PROMPT


async def test_due_jobs_of_any_queue_end_a_wait_for_every_queue(
    store: Store, clock: FakeClock
) -> None:
    await put(store, "scheduled", delay=1_000, queue="one")
    clock.advance(1)
    assert await waited(store, every=True) < PROMPT
    job = await claim_one(store, queue="one")
    assert await finish(store, job, State.RETRY, delay=1_000)
    clock.advance(1)
    assert await waited(store, every=True) < PROMPT


async def test_paused_queues_do_not_end_a_wait_for_every_queue(
    store: Store, clock: FakeClock
) -> None:
    await put(store, "pending", queue="stopped")
    await put(store, "due", delay=1_000, queue="stopped")
    await put(store, "cancelled", delay=1_000, queue="open")
    assert await store.cancel(["cancelled"]) == {"cancelled"}
    clock.advance(2)
    await store.pause("stopped")
    assert await lasts(store, every=True)


async def test_a_new_queue_ends_a_wait_for_every_queue_that_is_under_way(
    store: Store, another_store: Store
) -> None:
    waiting = await under_way(store, every=True)
    await put(another_store, "a", queue="brand-new")
    assert await woken(waiting)


async def test_resuming_any_queue_ends_a_wait_for_every_queue(
    store: Store, another_store: Store
) -> None:
    await put(another_store, "a", queue="stopped")
    await another_store.pause("stopped")
    waiting = await under_way(store, every=True)
    await another_store.resume("stopped")
    assert await woken(waiting)
