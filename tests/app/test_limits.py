"""Limits and sequences, from the option to the worker."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from tests.app.engines import ENGINES, url_of
from windlass import Limit, Retry, State, Windlass
from windlass.config import WorkerSettings
from windlass.core.lane import Lane
from windlass.errors import InvalidOption
from windlass.middleware import Middleware, NewJob, changed
from windlass.testing.work import counts, until, work

MANY = WorkerSettings(concurrency=20)


@pytest.fixture(params=ENGINES)
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    return url_of(request, tmp_path)


def lane_of(call: Any) -> Lane | None:
    lane: Lane | None = call.job.spec.lane
    return lane


# -- what is stored --------------------------------------------------------------------------


def test_a_limit_is_of_its_task_unless_it_has_a_name() -> None:
    app = Windlass("memory://")

    @app.task(limit=Limit(concurrency=2))
    async def send(to: str) -> None: ...

    assert lane_of(send.call("a")) == Lane("limit:send", slots=2)
    shared = send.using(limit=Limit(rate="5/s", name="mail"))
    assert lane_of(shared.call("a")) == Lane("limit:mail", starts=5, per=1_000, burst=1)
    assert lane_of(send.using(limit=None).call("a")) is None


def test_a_key_divides_a_limit() -> None:
    app = Windlass("memory://")

    @app.task(limit=Limit(concurrency=1, key=lambda to, **_: to.upper()))
    async def send(to: str, *, text: str = "") -> None: ...

    assert lane_of(send.call("a", text="x")) == Lane("limit:send:A", slots=1)
    fixed = send.using(limit=Limit(concurrency=1, key="b", name="mail"))
    assert lane_of(fixed.call("a")) == Lane("limit:mail:b", slots=1)


def test_a_sequence_has_a_text_or_makes_one_of_the_arguments() -> None:
    app = Windlass("memory://")

    @app.task(sequence=lambda order: f"order:{order}")
    async def ship(order: int) -> None: ...

    assert lane_of(ship.call(7)) == Lane("sequence:order:7", slots=1, strict=True)
    assert lane_of(ship.using(sequence="all").call(7)) == Lane("sequence:all", slots=1, strict=True)


def test_the_later_of_limit_and_sequence_wins_when_using_is_called_twice() -> None:
    app = Windlass("memory://")

    @app.task(limit=Limit(concurrency=1))
    async def send() -> None: ...

    ordered = send.using(sequence="s")
    assert lane_of(ordered.call()) == Lane("sequence:s", slots=1, strict=True)
    assert lane_of(ordered.using(limit=Limit(concurrency=3)).call()) == Lane("limit:send", slots=3)


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"limit": 5}, "limit takes a Limit(…), as in Limit(rate='10/s'); got 5."),
        ({"sequence": ""}, "sequence is a text of 1 to 100 characters; got ''."),
        ({"sequence": "x" * 101}, "sequence is a text of 1 to 100 characters"),
        ({"sequence": " a"}, "no blanks at its ends"),
        ({"limit": Limit(concurrency=1), "sequence": "a"}, "Give limit or sequence, not both."),
    ],
)
def test_what_cannot_be_is_refused_where_it_is_written(
    options: dict[str, Any], sentence: str
) -> None:
    app = Windlass("memory://")

    @app.task
    async def task() -> None: ...

    for declare in (task.using, app.task):
        with pytest.raises(InvalidOption) as caught:
            declare(**options) if declare == task.using else app.task(name="o", **options)(print)
        assert sentence in str(caught.value)
        assert "\n" not in str(caught.value)


@pytest.mark.parametrize("option", ["sequence", "limit"])
async def test_a_function_must_make_a_text(option: str) -> None:
    app = Windlass("memory://")
    given: Any = {
        "sequence": {"sequence": lambda: None},
        "limit": {"limit": Limit(concurrency=1, key=lambda: 7)},  # type: ignore[arg-type,return-value]
    }[option]

    @app.task
    async def task() -> None: ...

    with pytest.raises(InvalidOption, match="is a text of 1 to 100 characters; got"):
        task.using(**given).aenqueue()
    assert not await counts(await app.client.store())


def test_a_text_is_the_key_of_a_step_too() -> None:
    app = Windlass("memory://")

    @app.task(sequence=lambda order: f"order:{order}")
    async def ship(order: int) -> None: ...

    assert ship.using(sequence="all").step().job.spec.lane is not None


def test_middleware_that_changes_a_job_leaves_its_lane_unless_it_gives_another() -> None:
    app = Windlass("memory://")

    class Urgent(Middleware):
        def enqueue(self, job: NewJob) -> NewJob:
            return changed(job, priority=99)

    app.add_middleware(Urgent())

    @app.task(sequence=lambda n: f"s:{n}")
    async def task(n: int) -> None: ...

    [job] = app.registry.middleware.before([task.call(1).job])
    assert job.spec.lane == Lane("sequence:s:1", slots=1, strict=True)
    assert changed(job, limit=Limit(concurrency=2)).spec.lane == Lane("limit:task", slots=2)
    assert changed(job, sequence=None).spec.lane is None
    with pytest.raises(InvalidOption, match=r"the key of limit must be a text here: changed"):
        changed(job, limit=Limit(concurrency=1, key=lambda: "x"))


# -- what it does ----------------------------------------------------------------------------


async def test_no_more_run_at_a_time_than_allowed(app: Windlass) -> None:
    running = most = 0

    @app.task(limit=Limit(concurrency=2))
    async def careful() -> None:
        nonlocal running, most
        running += 1
        most = max(most, running)
        await asyncio.sleep(0.01)
        running -= 1

    await app.aenqueue_many(careful.call() for _ in range(12))
    await work(app, MANY)
    assert most == 2
    assert (await counts(await app.client.store()))[State.COMPLETED] == 12


@pytest.mark.parametrize("url", ["memory", "sqlite"], indirect=True)
async def test_the_slot_of_a_worker_that_is_gone_is_free_with_its_lease(app: Windlass) -> None:
    @app.task(limit=Limit(concurrency=1))
    async def careful(n: int) -> int:
        return n

    first, second = [await careful.aenqueue(n) for n in (1, 2)]
    store = await app.client.store()
    [held] = await store.claim({"default": 9}, 9, 50, "a worker that was killed")
    assert (held.id, (await second.aget()).state) == (first.id, State.BLOCKED)
    worker = await app.worker(MANY)
    await worker.start()
    assert await second.aresult(timeout=20) == 2
    await worker.stop()
    assert (await first.aget()).attempt >= 1


async def test_a_key_has_its_own_limit_and_blocks_no_other(app: Windlass) -> None:
    gate = asyncio.Event()
    ran: list[str] = []

    @app.task(limit=Limit(concurrency=1, key=lambda key, n: key))
    async def careful(key: str, n: int) -> None:
        ran.append(f"{key}{n}")
        if key == "slow":
            await gate.wait()

    await app.aenqueue_many(careful.call("slow", n) for n in range(3))
    await app.aenqueue_many(careful.call("quick", n) for n in range(3))
    worker = await app.worker(MANY)
    await worker.start()
    await until(lambda: {"quick2", "slow0"} <= {*ran})
    assert ran.count("slow1") == 0
    gate.set()
    await until(lambda: "slow2" in ran)
    await worker.stop()
    assert [each for each in ran if each.startswith("slow")] == ["slow0", "slow1", "slow2"]


async def started(app: Windlass, task: Any, number: int) -> list[int]:
    """When so many jobs were started, by the store's clock."""
    jobs = await app.aenqueue_many(task.call() for _ in range(number))
    worker = await app.worker(MANY)
    await worker.start()
    for job in jobs:
        await job.aresult(timeout=20)
    await worker.stop()
    stored = [await job.aget() for job in jobs]
    assert {job.attempt for job in stored} == {1}
    return sorted(job.started_at or 0 for job in stored)


async def test_a_rate_lets_so_many_start_in_so_long(app: Windlass) -> None:
    @app.task(limit=Limit(rate="20/s", burst=3))
    async def paced() -> None: ...

    starts = await started(app, paced, 10)
    # Three at once, then one each 50 ms.
    assert starts[-1] - starts[0] >= 345


async def test_a_window_never_lets_more_start(app: Windlass) -> None:
    @app.task(limit=Limit(rate=(4, 0.3), window=True))
    async def paced() -> None: ...

    starts = await started(app, paced, 8)
    assert starts[4] - starts[0] >= 300


async def test_a_sequence_runs_in_order_whatever_fails(app: Windlass) -> None:
    ran: list[str] = []

    @app.task(sequence=lambda key, n: key, backoff=0.01)
    async def step(key: str, n: int) -> None:
        ran.append(f"{key}{n}")
        if ran.count(f"{key}{n}") < 2 and n == 1:
            raise Retry(after=0.01)

    calls = [step.using(priority=n * 10).call(key, n) for n in range(4) for key in "ab"]
    await app.aenqueue_many(calls)
    worker = await app.worker(MANY)
    await worker.start()
    await until(lambda: len(ran) == 10)
    await worker.stop()
    for key in "ab":
        assert [each for each in ran if each[0] == key] == [f"{key}{n}" for n in (0, 1, 1, 2, 3)]


async def test_tasks_of_one_queue_can_share_a_sequence(app: Windlass) -> None:
    ran: list[str] = []

    @app.task(sequence="orders")
    async def first() -> None:
        await asyncio.sleep(0.02)
        ran.append("first")

    @app.task(sequence="orders")
    async def second() -> None:
        ran.append("second")

    await first.aenqueue()
    await second.aenqueue()
    await work(app, MANY)
    assert ran == ["first", "second"]
