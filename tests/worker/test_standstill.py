"""Parts of what a worker does while its event loop is blocked; the whole is in tests/acceptance."""

import asyncio
import logging
import threading
import time
from collections.abc import Sequence

import pytest

from windlass import State, Windlass
from windlass.config import WorkerSettings
from windlass.core.model import Transition
from windlass.core.outcome import Released, decide
from windlass.errors import StoreUnavailable
from windlass.scheduler.leader import Leader
from windlass.scheduler.upkeep import upkeep
from windlass.stores.contract import Store
from windlass.testing.faults import FaultyStore
from windlass.testing.work import counts, until, work
from windlass.worker.liveness import LOOK, SLOW, Liveness
from windlass.worker.returns import Returner, Returns
from windlass.worker.unstarted import withheld
from windlass.worker.worker import Worker

LEASE = 2.0
"""With it a loop counts as blocked after a second."""


async def test_a_loop_that_is_blocked_is_told_once_with_its_stack_and_then_that_it_is_back() -> (
    None
):
    told: list[str] = []
    liveness = Liveness(
        LEASE,
        lambda seconds: told.append(liveness.stack()),
        lambda seconds: told.append(f"{seconds > 1}"),
    )
    liveness.start()
    deadline = time.monotonic() + 30
    while not told and time.monotonic() < deadline:
        time.sleep(0.01)
    assert liveness.silence >= 1
    await until(lambda: len(told) == 2)
    assert liveness.silence == 0
    liveness.stop()
    assert "test_a_loop_that_is_blocked" in told[0] and "time.sleep(0.01)" in told[0]
    assert told[1] == "True"


async def test_a_handler_that_holds_the_loop_up_is_told_within_a_second_or_two(
    app: Windlass, caplog: pytest.LogCaptureFixture
) -> None:
    """Long before it counts as blocked, and once: each of its jobs does the same."""
    warned = threading.Event()

    class Noticing(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            if "holds up the event loop" in record.getMessage():
                warned.set()

    @app.task
    async def computes(seconds: float) -> None:
        (warned if seconds > 2 * SLOW else threading.Event()).wait(seconds)

    handler = Noticing()
    logging.getLogger("windlass").addHandler(handler)
    try:
        await app.aenqueue_many([computes.call(30), computes.call(1.5 * SLOW)])
        await work(app)
    finally:
        logging.getLogger("windlass").removeHandler(handler)
    assert warned.is_set()
    (record,) = [each for each in caplog.records if "holds up" in each.getMessage()]
    assert record.levelname == "WARNING"
    text = record.getMessage()
    assert text.startswith("computes (") and "declare it with def" in text
    assert ".wait(seconds)" in text
    assert not [each for each in caplog.records if each.levelname == "ERROR"]


async def test_a_process_that_was_frozen_as_a_whole_was_not_blocked() -> None:
    liveness = Liveness(LEASE, lambda seconds: None, lambda seconds: None)
    liveness._ask()
    liveness._note(3600)
    assert liveness.silence == 0
    for _ in range(2):
        liveness._note(LOOK)
    assert liveness.silence == 4 * LOOK


async def test_patience_is_half_a_lease_and_some_seconds_at_the_most() -> None:
    found = [Liveness(lease, print, print).patience for lease in (0.1, 4, 30, 3600)]
    assert found == [1, 2, 5, 5]


async def test_an_attempt_that_has_begun_is_not_withheld() -> None:
    begun: list[int] = []

    async def attempt(number: int) -> None:
        begun.append(number)
        await asyncio.sleep(0)

    first = asyncio.create_task(attempt(1))
    await asyncio.sleep(0)
    second = asyncio.create_task(attempt(2))
    taken: dict[tuple[str, int], bool] = {("ended", 1): False}
    running = {("begun", 1): first, ("new", 1): second, ("ended", 1): second}
    assert withheld(running, taken) == [("new", 1)]
    assert taken == {("ended", 1): False, ("new", 1): True}
    assert withheld(running, taken) == []
    await asyncio.gather(first, second)


async def test_what_was_withheld_never_begins_and_its_slot_is_free_again(app: Windlass) -> None:
    """As the thread beside the loop does it, in the turn of the loop in which jobs arrive."""
    ran: list[int] = []

    @app.task
    async def work(n: int) -> None:
        ran.append(n)

    store = await app.client.store()
    jobs = await app.aenqueue_many([work.call(n) for n in range(5)])
    worker = await app.worker(WorkerSettings(concurrency=3, queues=("other",)))
    await worker.start()
    claimed = await store.claim({"default": 5}, 5, 30_000, worker.id)
    worker._fetcher._take(claimed)
    standstill = worker._standstill
    thread = threading.Thread(target=standstill._on_blocked, args=[1.0])
    thread.start()
    thread.join()
    await until(lambda: len(worker._hand) == 0 and worker.busy == 0)
    assert await counts(store) == {State.PENDING: 5}
    assert ran == []
    assert {(await job.aget()).attempt for job in jobs} == {0}
    claimed = await store.claim({"default": 5}, 5, 30_000, worker.id)
    worker._fetcher._take(claimed)
    for job in jobs:
        await job.aresult(timeout=20)
    await worker.stop()
    assert sorted(ran) == [0, 1, 2, 3, 4]


class Picky(FaultyStore):
    """A store that does not answer the first call, and refuses to finish one job."""

    def __init__(self, store: Store, refused: str) -> None:
        super().__init__(store)
        self._whole = store
        self._refused = refused

    async def finish(self, transitions: Sequence[Transition]) -> frozenset[str]:
        self.calls["finish"] += 1
        if self.calls["finish"] == 1:
            raise StoreUnavailable("down (injected).")
        if self._refused in {each.id for each in transitions}:
            raise ValueError("not this one")
        return await self._whole.finish(transitions)


async def test_moves_are_written_until_the_store_takes_them_and_one_harms_no_other(
    app: Windlass,
) -> None:
    @app.task
    async def work(n: int) -> None: ...

    real = await app.client.store()
    handles = await app.aenqueue_many([work.call(n) for n in range(3)])
    claimed = await real.claim({"default": 3}, 3, 30_000, "w")
    store = Picky(real, handles[1].id)
    written: list[str] = []
    returns = Returns(lambda moves: written.extend(move.id for move in moves))
    assert returns.drained(0)
    returner = Returner(store, returns)
    returns.put([decide(job, Released()) for job in claimed])
    assert not returns.drained(0)
    returner.start()
    assert await asyncio.to_thread(returns.drained, 20)
    await returner.stop()
    assert written == [job.id for job in claimed]
    assert await counts(real) == {State.PENDING: 2, State.ACTIVE: 1}


async def test_a_stop_does_not_wait_for_a_store_that_hangs(app: Windlass) -> None:
    """An idle worker has nothing to write."""

    class Hanging(FaultyStore):
        async def leave(self, worker: str) -> None:
            await self._hang()

        async def resign(self, role: str, holder: str) -> None:
            await self._hang()

        async def _hang(self) -> None:
            await asyncio.sleep(3600)
            raise StoreUnavailable

    real: Store = await app.client.store()
    store, settings = Hanging(real), WorkerSettings(shutdown_timeout=0.1)
    services = upkeep(store, app.registry, settings)
    worker = Worker(app.registry, app.codecs, store, settings, services)
    await worker.start()
    leader = services[0]
    assert isinstance(leader, Leader)
    await until(lambda: leader.is_leader)
    async with asyncio.timeout(20):
        await worker.stop()
