"""Which queues a worker serves, and in which order, with real workers on real stores."""

from collections import Counter
from collections.abc import Awaitable, Callable

import pytest

from windlass import Windlass
from windlass.config import WorkerSettings
from windlass.errors import ConfigError
from windlass.handle import JobHandle
from windlass.testing.faults import FaultyStore
from windlass.testing.work import until, work
from windlass.worker import fetcher
from windlass.worker.worker import Worker

Put = Callable[[str, int], Awaitable[list[JobHandle[None]]]]


@pytest.fixture
def ran() -> list[str]:
    return []


@pytest.fixture
def put(app: Windlass, ran: list[str]) -> Put:
    """Put jobs into a queue; each notes its queue when it runs."""

    @app.task
    async def note(queue: str) -> None:
        ran.append(queue)

    async def put(queue: str, number: int) -> list[JobHandle[None]]:
        calls = [note.using(queue=queue).call(queue) for _ in range(number)]
        return list(await app.aenqueue_many(calls))

    return put


def serving(*queues: str, strict: bool = False) -> WorkerSettings:
    """One job at a time, so that the order is that of the claims."""
    return WorkerSettings(queues=queues, strict=strict, concurrency=1)


async def test_two_queues_take_turns(app: Windlass, put: Put, ran: list[str]) -> None:
    await put("a", 40)
    await put("b", 40)
    await work(app, serving("a", "b"))
    assert Counter(ran) == {"a": 40, "b": 40}
    assert 15 <= ran[:40].count("b") <= 25


async def test_a_weight_is_how_many_jobs_for_one_of_the_others(
    app: Windlass, put: Put, ran: list[str]
) -> None:
    await put("light", 60)
    await put("heavy", 60)
    await work(app, serving("light", "heavy:3"))
    assert Counter(ran) == {"light": 60, "heavy": 60}
    assert 25 <= ran[:40].count("heavy") <= 35


async def test_in_strict_order_a_queue_waits_for_those_before_it(
    app: Windlass, put: Put, ran: list[str]
) -> None:
    await put("second", 30)
    await put("first", 30)
    await work(app, serving("first", "second", strict=True))
    assert ran == ["first"] * 30 + ["second"] * 30


async def test_a_worker_with_room_serves_all_its_queues_at_once(
    app: Windlass, put: Put, ran: list[str]
) -> None:
    await put("a", 500)
    await put("b", 3)
    await work(app, WorkerSettings(queues=("a", "b", "empty")))
    assert Counter(ran) == {"a": 500, "b": 3}
    assert "b" in ran[:101]


async def test_the_star_serves_every_queue(app: Windlass, put: Put, ran: list[str]) -> None:
    for queue in ("default", "a", "tenant:7", "*"):
        await put(queue, 5)
    await work(app, serving("*"))
    assert Counter(ran) == {"default": 5, "a": 5, "tenant:7": 5, "*": 5}


async def test_the_star_can_stand_beside_a_weight(app: Windlass, put: Put, ran: list[str]) -> None:
    for queue in ("a", "urgent"):
        await put(queue, 60)
    await work(app, serving("urgent:5", "*"))
    assert Counter(ran) == {"a": 60, "urgent": 60}
    assert ran[:60].count("urgent") >= 45


@pytest.mark.usefixtures("never_looks")
async def test_an_idle_worker_is_woken_by_a_queue_that_is_new(app: Windlass, put: Put) -> None:
    store = FaultyStore(await app.client.store())
    worker = Worker(app.registry, app.codecs, store, serving("*"))
    await worker.start()
    await until(lambda: store.calls["wait"] == 1)
    for queue in ("one", "two"):
        (job,) = await put(queue, 1)
        await job.aresult(timeout=20)
    await worker.stop()


async def test_a_worker_that_is_never_idle_finds_a_queue_that_is_new(
    app: Windlass, put: Put, ran: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fetcher, "NEWS", 0.2)
    rounds = 0

    @app.task(queue="busy")
    async def again() -> None:
        """Leaves as much work behind as it found."""
        nonlocal rounds
        rounds += 1
        if "new" not in ran:
            await again.aenqueue()

    await app.aenqueue_many([again.call() for _ in range(50)])
    worker = await app.worker(serving("*"))
    await worker.start()
    await until(lambda: rounds > 50)
    (job,) = await put("new", 1)
    await job.aresult(timeout=20)
    await worker.stop()


@pytest.mark.usefixtures("never_looks")
async def test_a_paused_queue_is_left_alone_until_it_is_resumed(
    app: Windlass, put: Put, ran: list[str]
) -> None:
    store = await app.client.store()
    await store.pause("a")
    (paused,) = await put("a", 1)
    (open_,) = await put("b", 1)
    worker = await app.worker(serving("*"))
    await worker.start()
    await open_.aresult(timeout=20)
    assert ran == ["b"]
    await store.resume("a")
    await paused.aresult(timeout=20)
    await worker.stop()


async def test_a_job_released_by_the_worker_loses_nothing_with_any_queue(
    app: Windlass, put: Put, ran: list[str]
) -> None:
    """A worker that stops in the midst of many queues gives back what it did not start."""
    jobs = [job for queue in ("a", "b", "c") for job in await put(queue, 200)]
    worker = await app.worker(serving("a", "b:2", "*"))
    await worker.start()
    await until(lambda: len(ran) > 20)
    await worker.stop()
    await work(app, serving("*"))
    assert len(ran) == 600
    assert {(await job.aget()).attempt for job in jobs} == {1}


@pytest.mark.parametrize(
    ("queues", "strict", "reason"),
    [
        (("a:0",), False, "a whole number from 1 to 1000"),
        (("a", "a:2"), False, "'a' twice"),
        (("a:2", "b"), True, "weights together with strict"),
    ],
)
def test_queues_that_make_no_sense_are_refused_at_once(
    queues: tuple[str, ...], strict: bool, reason: str
) -> None:
    with pytest.raises(ConfigError, match=reason):
        WorkerSettings(queues=queues, strict=strict)
