"""`@app.cron` and `app.schedules`: what is declared, and what is done at run time."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from tests.app.engines import ENGINES, url_of
from windlass import Context, Windlass
from windlass.config import WorkerSettings
from windlass.core.clock import to_datetime
from windlass.core.codec import decode_call
from windlass.core.schedule import Schedule
from windlass.core.states import State
from windlass.errors import InvalidArguments, InvalidOption, UnknownSchedule, WouldBlock
from windlass.scheduler import ticker
from windlass.testing.clock import FakeClock
from windlass.testing.work import counts, work


@pytest.fixture(params=ENGINES)
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    return url_of(request, tmp_path)


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture
async def app(url: str, clock: FakeClock, tmp_path: Path) -> AsyncIterator[Windlass]:
    app = Windlass(url, clock=clock)
    yield app
    await app.aclose()
    app.close()


def call_of(app: Windlass, schedule: Schedule) -> tuple[list[Any], dict[str, Any]]:
    return decode_call(app.codecs.get(schedule.spec.content_type), schedule.spec.payload)


async def test_a_function_becomes_a_task_with_a_schedule(app: Windlass) -> None:
    @app.cron("0 9 * * mon-fri", timezone="Europe/Berlin", queue="reports", max_retries=1)
    async def report() -> str:
        return "done"

    assert await report() == "done"
    declared = app.registry.schedules["report"]
    assert (declared.text, declared.zone) == ("0 9 * * mon-fri", "Europe/Berlin")
    assert (declared.spec.task, declared.spec.max_retries, declared.queue) == (
        "report",
        1,
        "reports",
    )
    assert app.tasks["report"].options.queue == "reports"


async def test_one_task_can_have_several_schedules(app: Windlass) -> None:
    @app.cron("@hourly", name="hourly", args=[1])
    @app.cron("@daily", name="daily", args=[2], kwargs={"loud": True}, priority="high")
    @app.task(queue="q")
    def count(number: int, loud: bool = False) -> int:
        return number

    assert count(3) == 3
    hourly, daily = app.registry.schedules["hourly"], app.registry.schedules["daily"]
    assert call_of(app, hourly) == ([1], {})
    assert call_of(app, daily) == ([2], {"loud": True})
    assert (hourly.queue, hourly.priority, daily.queue, daily.priority) == ("q", 50, "q", 75)
    assert app.tasks["count"].options.priority == 50


async def test_a_handler_can_have_its_context(app: Windlass) -> None:
    @app.cron("@daily", context=True)
    async def job(ctx: Context) -> str:
        return ctx.id

    await (await app.client.store()).put_schedules([*app.registry.schedules.values()])
    triggered = await app.schedules.atrigger("job")
    await work(app)
    assert await triggered.aresult() == triggered.id


@pytest.mark.parametrize(
    ("options", "match"),
    [
        ({"timezone": "Atlantis"}, "no time zone 'Atlantis'"),
        ({"missed": "some"}, "missed is skip, last or all; got 'some'"),
        ({"overlap": "maybe"}, "overlap is allow, skip or queue; got 'maybe'"),
        ({"name": " x"}, "no blanks at its ends"),
        ({"name": "x" * 101}, "1 to 100 characters"),
        ({"delay": 5}, "delay is for one job"),
        ({"depends_on": "x"}, "depends_on is for one job"),
    ],
)
async def test_what_cannot_be_is_refused_where_it_is_written(
    app: Windlass, options: dict[str, Any], match: str
) -> None:
    decorator: Any = app.cron
    with pytest.raises(InvalidOption, match=match):
        decorator("@daily", **options)(lambda: None)


@pytest.mark.parametrize("text", ["", "x", "* * * *", "99 * * * *", "@never", "@every 0s", None])
async def test_what_is_no_schedule_is_refused_and_no_task_is_made(app: Windlass, text: Any) -> None:
    with pytest.raises(InvalidOption):

        @app.cron(text)
        def job() -> None: ...

    assert not app.tasks


async def test_arguments_that_are_missing_are_told(app: Windlass) -> None:
    with pytest.raises(InvalidArguments, match="missing a required argument: 'number'"):

        @app.cron("@daily")
        def job(number: int) -> None: ...


async def test_two_schedules_of_one_name_are_refused(app: Windlass) -> None:
    with pytest.raises(InvalidOption, match="give this one name='…' of its own"):

        @app.cron("@daily")
        @app.cron("@hourly")
        def job() -> None: ...


async def test_a_schedule_of_a_task_cannot_change_the_task(app: Windlass) -> None:
    with pytest.raises(
        InvalidOption, match=r"backoff is for the whole task; give it to @app\.task"
    ):

        @app.cron("@daily", backoff=3)
        @app.task
        def job() -> None: ...


@pytest.fixture
def greet(app: Windlass) -> Any:
    @app.task
    async def greet(name: str) -> str:
        return f"hello {name}"

    return greet


async def test_schedules_are_added_changed_and_removed_at_run_time(
    app: Windlass, greet: Any, clock: FakeClock
) -> None:
    schedules = app.schedules
    await schedules.aadd("ada", "@every 90s", greet.using(queue="q").call("Ada"), missed="last")
    info = await schedules.aget("ada")
    assert (info.text, info.task, info.queue, info.missed) == ("@every 90s", "greet", "q", "last")
    assert (info.last_at, info.job, info.declared, info.fault) == (None, None, False, None)
    assert info.next_at is not None and 0 < info.next_at - clock() <= 90_000
    with pytest.raises(InvalidOption, match="There is a schedule ada already"):
        await schedules.aadd("ada", "@daily", greet.call("Ada"))
    await schedules.achange("ada", text="0 12 * * *", timezone="Asia/Tokyo", overlap="skip")
    info = await schedules.aget("ada")
    assert (info.text, info.timezone, info.missed, info.overlap) == (
        "0 12 * * *",
        "Asia/Tokyo",
        "last",
        "skip",
    )
    assert info.next_at is not None and to_datetime(info.next_at).hour == 3
    await schedules.achange("ada", call=greet.call("Grace"))
    assert [each.name for each in await schedules.alist()] == ["ada"]
    await schedules.aremove("ada")
    assert await schedules.alist() == []


async def test_a_triggered_schedule_enqueues_its_job_at_once(app: Windlass, greet: Any) -> None:
    await app.schedules.aadd("ada", "@yearly", greet.call("Ada"))
    first, second = [await app.schedules.atrigger("ada") for _ in range(2)]
    assert first.id != second.id
    await work(app)
    assert await first.aresult() == "hello Ada"


async def test_a_paused_schedule_makes_no_jobs_until_it_is_resumed(
    app: Windlass, greet: Any, clock: FakeClock
) -> None:
    await app.schedules.aadd("ada", "* * * * *", greet.call("Ada"))
    await app.schedules.apause("ada")
    assert (await app.schedules.aget("ada")).next_at is None
    clock.advance(60)
    await work(app)
    store = await app.client.store()
    assert not await counts(store)
    await app.schedules.aresume("ada")
    assert (await app.schedules.aget("ada")).next_at is not None


async def test_a_clock_that_a_test_moves_makes_every_tick(app: Windlass, clock: FakeClock) -> None:
    """However often it is looked at, and however far it is moved at once."""
    beats: list[int] = []

    @app.cron("@every 60s")
    async def beat() -> None:
        beats.append(clock.now)

    for number in range(10):
        await work(app)
        assert len(beats) == number
        clock.advance(60)
    await work(app)
    assert len(beats) == 10


async def test_a_clock_that_is_moved_by_an_hour_misses_no_hour(
    app: Windlass, clock: FakeClock
) -> None:
    hours: list[int] = []

    @app.cron("0 * * * *")
    async def hourly() -> None:
        hours.append(clock.now)

    for number in range(24):
        assert len(hours) == number
        clock.advance(3_601)
        await work(app)
    assert len(hours) == 24


async def test_a_clock_moved_far_keeps_what_a_schedule_says_of_overlap(
    app: Windlass, clock: FakeClock
) -> None:
    """The job of a tick is finished before the next one comes, unless it cannot be."""
    ran: list[str] = []

    @app.cron("@every 60s", overlap="skip", context=True)
    async def quick(context: Context) -> None:
        ran.append(context.id)

    @app.cron("@every 60s", overlap="skip", max_retries=1, backoff=3_600, jitter=0)
    async def behind() -> None:
        raise ConnectionError

    clock.advance(600)
    await work(app)
    assert len(ran) == len(set(ran)) == 10
    assert [each.last_at for each in await app.schedules.alist()] == [
        clock.now // 60_000 * 60_000
    ] * 2
    states = await counts(await app.client.store())
    assert states == {State.COMPLETED: 10, State.RETRY: 1}


@pytest.mark.parametrize("act", ["achange", "apause", "aresume", "aremove", "atrigger", "aget"])
async def test_an_unknown_name_is_told(app: Windlass, act: str) -> None:
    with pytest.raises(UnknownSchedule, match="There is no schedule nobody in the store"):
        await getattr(app.schedules, act)("nobody")


async def test_jobs_of_a_schedule_can_have_no_options_of_one_job(app: Windlass, greet: Any) -> None:
    for options in ({"id": "x"}, {"delay": 1}, {"unique": "u"}, {"depends_on": "x"}):
        with pytest.raises(InvalidOption, match="The jobs of the schedule s cannot"):
            await app.schedules.aadd("s", "@daily", greet.using(**options).call("Ada"))


async def test_a_schedule_that_someone_broke_is_listed_with_its_fault(
    app: Windlass, greet: Any
) -> None:
    store = await app.client.store()
    await store.put_schedules([Schedule("s", "nonsense", greet.call("Ada").job.spec)])
    info = await app.schedules.aget("s")
    assert info.next_at is None
    assert info.fault is not None and "no cron expression" in info.fault


async def test_blocking_code_has_the_same(app: Windlass, greet: Any) -> None:
    def act() -> str:
        schedules = app.schedules
        schedules.add("ada", "@daily", greet.call("Ada"))
        schedules.change("ada", text="@hourly")
        schedules.pause("ada")
        schedules.resume("ada")
        job = schedules.trigger("ada")
        assert schedules.get("ada") == schedules.list()[0]
        schedules.remove("ada")
        return job.id

    id = await asyncio.to_thread(act)
    assert (await greet.handle(id).aget()).task == "greet"
    with pytest.raises(WouldBlock, match=r"await app\.schedules\.alist\(\)"):
        app.schedules.list()


async def test_a_worker_puts_what_is_declared(
    app: Windlass, clock: FakeClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ticker, "LONGEST_PAUSE", 0.01)

    @app.cron("* * * * *")
    async def pulse() -> str:
        return "beat"

    await app.schedules.aadd("left", "@daily", pulse.call())
    worker = await app.worker(WorkerSettings(concurrency=1))
    await worker.start()
    async with asyncio.timeout(20):
        while len(infos := await app.schedules.alist()) < 2:
            await asyncio.sleep(0.002)
        clock.advance(60)
        while (last := (await app.schedules.aget("pulse")).job) is None:
            await asyncio.sleep(0.01)
        store = await app.client.store()
        # On a Cluster the schedule has the id before the queue has the job.
        while not await store.get([last]):
            await asyncio.sleep(0.01)
        assert await pulse.handle(last).aresult() == "beat"
    await worker.stop()
    assert {info.name: info.declared for info in infos} == {"left": False, "pulse": True}
