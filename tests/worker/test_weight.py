"""A worker holds as many bytes of payload as it may, however many slots are free."""

import asyncio

import pytest

from windlass import Windlass
from windlass.config import WorkerSettings
from windlass.core.model import Job, Spec, Transition
from windlass.core.states import State
from windlass.testing.jobs import foreign
from windlass.testing.work import until
from windlass.worker import fetcher
from windlass.worker.acker import BATCH_BYTES, within_bytes
from windlass.worker.hand import Hand

SIZE = 10_000


def job(id: str, size: int = SIZE) -> Job:
    return foreign(id, State.ACTIVE, Spec("work", bytes(size)), fence=1)


def moved(*sizes: int | None) -> list[Transition]:
    results = [None if size is None else bytes(size) for size in sizes]
    return [
        Transition(str(n), 1, State.COMPLETED, result=result) for n, result in enumerate(results)
    ]


def test_a_hand_counts_the_bytes_of_its_jobs() -> None:
    hand = Hand()
    hand.take([job("a"), job("b", 5)])
    hand.take([job("c", 0)])
    assert hand.bytes == SIZE + 5
    hand.drop([("a", 1), ("nobody", 1), ("a", 2)])
    assert hand.bytes == 5
    hand.drop([("b", 1), ("c", 1), ("b", 1)])
    assert hand.bytes == 0


async def test_no_more_is_claimed_than_a_worker_may_hold(
    app: Windlass, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fetcher, "HELD_BYTES", 35_000)
    running: list[int] = []
    go_on = asyncio.Event()

    @app.task
    async def heavy(n: int, load: bytes) -> None:
        running.append(n)
        await go_on.wait()

    handles = await app.aenqueue_many([heavy.call(n, bytes(SIZE)) for n in range(10)])
    worker = await app.worker(WorkerSettings(concurrency=100))
    await worker.start()
    store = await app.client.store()
    # The first beyond what fits is claimed as long as there is any room at all.
    await until(lambda: len(running) == 4)
    [stats] = await store.queues()
    assert stats.counts == {State.ACTIVE: 4, State.PENDING: 6}
    go_on.set()
    for handle in handles:
        await handle.aresult(timeout=20)
    assert sorted(running) == list(range(10))
    await worker.stop()


@pytest.mark.parametrize(
    ("sizes", "number"),
    [
        ([None, 0, 10], 3),
        ([BATCH_BYTES, None, None], 3),
        ([BATCH_BYTES, 1, None], 1),
        ([2 * BATCH_BYTES, None], 1),
        ([1, 2 * BATCH_BYTES, 1], 1),
        ([BATCH_BYTES // 2, BATCH_BYTES // 2, 1], 2),
        ([], 0),
    ],
)
def test_results_go_to_the_store_in_calls_of_bounded_size(
    sizes: list[int | None], number: int
) -> None:
    moves = moved(*sizes)
    assert within_bytes(moves) == moves[:number]
