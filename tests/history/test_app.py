"""`app.history`, from async and from blocking code, and where its settings come from."""

import asyncio
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from windlass import Fatal, Windlass
from windlass.config import HistorySettings, WorkerSettings
from windlass.core.states import State
from windlass.errors import ConfigError, InvalidOption, UnknownJob, UnknownScheme, WouldBlock
from windlass.testing.work import until, work


@pytest.fixture
def app(history_url: str, tmp_path: Path) -> Windlass:
    return Windlass(
        f"sqlite:///{tmp_path}/jobs.db", history=HistorySettings(url=history_url, interval=0.01)
    )


async def test_what_a_worker_has_done_can_be_searched(app: Windlass) -> None:
    failures = iter([True, False])

    @app.task(max_retries=3, backoff=0)
    async def shaky(word: str) -> str:
        if next(failures):
            raise ValueError("not yet")
        return word

    before = datetime.now(UTC) - timedelta(minutes=1)
    job = await shaky.using(id="shaky", keep=0, labels={"tenant": "a"}).aenqueue("done")
    await work(app)
    page = await app.history.afind(
        task="shaky", since=before, labels={"tenant": "a"}, states=["completed"], error="not YET"
    )
    assert [found.id for found in page.jobs] == [job.id]
    found = await app.history.aget("shaky")
    assert (found.state, found.attempt) == (State.COMPLETED, 2)
    first, second = await app.history.aattempts("shaky")
    assert (first.state, second.state) == (State.RETRY, State.COMPLETED)
    assert first.error is not None
    assert first.error.message == "not yet"
    assert first.worker is not None
    await app.aclose()


def test_blocking_code_asks_without_an_event_loop(app: Windlass) -> None:
    @app.task
    async def refuse() -> None:
        raise Fatal("no")

    refuse.using(id="refused").enqueue()

    async def run() -> None:
        await work(app)
        await app.aclose()

    asyncio.run(run())
    assert [job.id for job in app.history.find(sort="duration").jobs] == ["refused"]
    assert app.history.get("refused").state is State.DEAD
    assert len(app.history.attempts("refused")) == 1
    with pytest.raises(UnknownJob, match="There is no job nobody in history"):
        app.history.get("nobody")
    app.close()


async def test_a_blocking_call_is_refused_on_an_event_loop(app: Windlass) -> None:
    with pytest.raises(WouldBlock, match=r"await app\.history\.afind"):
        app.history.find()


async def test_a_running_worker_keeps_up(app: Windlass) -> None:
    @app.task
    async def note() -> None: ...

    worker = await app.worker(WorkerSettings())
    await worker.start()
    try:
        for round in range(1, 4):
            await app.aenqueue_many([note.call() for _ in range(20)])
            seen: set[str] = set()

            async def look(seen: set[str] = seen) -> None:
                seen.update(job.id for job in (await app.history.afind(limit=1_000)).jobs)

            async with asyncio.timeout(20):
                while len(seen) < 20 * round:
                    await look()
    finally:
        await worker.stop()
        await app.aclose()


async def test_a_worker_without_history_keeps_no_journal(tmp_path: Path) -> None:
    app = Windlass(f"sqlite:///{tmp_path}/jobs.db")

    @app.task
    async def note() -> None: ...

    await note.aenqueue()
    await work(app)
    assert list(await (await app.client.store()).read_journal(10)) == []
    await app.aclose()


async def test_a_worker_starts_though_its_history_is_away(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    folder = tmp_path / "late"
    app = Windlass(
        f"sqlite:///{tmp_path}/jobs.db",
        history=HistorySettings(url=f"sqlite:///{folder}/history.db", interval=0.01),
    )

    @app.task
    async def note() -> str:
        return "done"

    worker = await app.worker()
    await worker.start()
    job = await note.aenqueue()
    assert await job.aresult(timeout=20) == "done"
    await until(lambda: "history cannot be written" in caplog.text)
    folder.mkdir()
    async with asyncio.timeout(30):
        while await (await app.client.store()).read_journal(10):
            await asyncio.sleep(0.01)
    await worker.stop()
    assert (await app.history.aget(job.id)).state is State.COMPLETED
    await app.aclose()


async def test_an_app_without_history_says_how_to_have_one(tmp_path: Path) -> None:
    app = Windlass(f"sqlite:///{tmp_path}/jobs.db")
    assert not app.history.is_kept
    with pytest.raises(ConfigError, match="WINDLASS_HISTORY"):
        await app.history.afind()


def test_the_settings_come_from_everywhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "windlass.toml").write_text('[history]\nurl = "sqlite:///file.db"\nkeep = 60\n')
    assert Windlass().history.settings == HistorySettings(url="sqlite:///file.db", keep=60)
    monkeypatch.setenv("WINDLASS_HISTORY_MOST", "1000")
    monkeypatch.setenv("WINDLASS_HISTORY", "sqlite:///variable.db")
    settings = Windlass().history.settings
    assert (settings.url, settings.keep, settings.most) == ("sqlite:///variable.db", 60, 1000)
    assert Windlass(history="sqlite:///own.db").history.settings.url == "sqlite:///own.db"
    own = HistorySettings(url="sqlite:///own.db")
    assert Windlass(history=own).history.settings is own


@pytest.mark.parametrize(
    ("wrong", "said"),
    [({"keep": -1}, "keep of history"), ({"most": -1}, "most of"), ({"interval": 0}, "interval")],
)
def test_settings_that_make_no_sense_are_refused(wrong: dict[str, int], said: str) -> None:
    with pytest.raises(ConfigError, match=said):
        HistorySettings(**wrong)  # type: ignore[arg-type]


async def test_a_history_that_cannot_be_stops_the_worker_before_it_starts(tmp_path: Path) -> None:
    app = Windlass(f"sqlite:///{tmp_path}/jobs.db", history="redis://localhost")
    with pytest.raises(UnknownScheme, match="SQL database"):
        await app.worker()
    await app.aclose()


@pytest.mark.parametrize(
    "filters",
    [
        {"states": ["gone"]},
        {"sort": "colour"},
        {"limit": 0},
        {"error": ""},
        {"colour": "red"},
        {"since": datetime(2026, 1, 1)},
        {"min_duration": -1},
    ],
)
async def test_filters_that_make_no_sense_are_refused(
    app: Windlass, filters: dict[str, object]
) -> None:
    with pytest.raises(InvalidOption):
        await app.history.afind(**filters)  # type: ignore[arg-type]
