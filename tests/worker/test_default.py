"""The handler of tasks that an app does not have."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from tests.app.engines import ENGINES, url_of
from tests.worker.handlers import anything
from windlass import Batch, Context, Depends, State, Windlass, chain
from windlass.config import WorkerSettings
from windlass.core.codec import encode_call
from windlass.core.model import UNREADABLE, NewJob, Spec
from windlass.errors import InvalidOption
from windlass.testing.jobs import job_of
from windlass.testing.work import work


@pytest.fixture(params=ENGINES)
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    return url_of(request, tmp_path)


Seen = list[tuple[str, tuple[Any, ...], dict[str, Any]]]


def noting(app: Windlass, seen: Seen) -> None:
    @app.default
    async def unknown(context: Context, *args: Any, **kwargs: Any) -> str:
        seen.append((context.job.task, args, kwargs))
        return "noted"


async def brought(app: Windlass, task: str, *args: Any, **options: Any) -> str:
    """A job of a task that nobody has declared here."""
    spec = Spec(task, encode_call(app.codecs.default, args, {}), **options)
    id = f"job-{task}"
    await (await app.client.store()).insert([NewJob(id, spec)])
    return id


async def test_it_gets_the_name_and_the_arguments_of_the_job(app: Windlass) -> None:
    seen: Seen = []
    noting(app, seen)

    @app.task
    async def known(n: int) -> int:
        return n

    mine = await known.aenqueue(7)
    id = await brought(app, "elsewhere", 1, "two", {"three": [3]})
    await work(app)
    assert await mine.aresult() == 7
    assert await app.job(id).aresult() == "noted"
    assert seen == [("elsewhere", (1, "two", {"three": [3]}), {})]


class TestAnywhere:
    @pytest.fixture(params=["memory"])
    def url(self, request: pytest.FixtureRequest, tmp_path: Path) -> str:
        return url_of(request, tmp_path)

    async def test_arguments_by_name_come_by_name(self, app: Windlass) -> None:
        seen: Seen = []
        noting(app, seen)
        elsewhere = Windlass("memory://")

        @elsewhere.task
        def resize(path: str, width: int = 0) -> None: ...

        job = resize.call("a.png", width=3).job
        await (await app.client.store()).insert([job])
        await work(app)
        assert seen == [("resize", ("a.png",), {"width": 3})]

    @pytest.mark.parametrize("retries", [0, 2])
    async def test_its_retries_and_its_rules_hold(self, app: Windlass, retries: int) -> None:
        runs: list[int] = []

        @app.default(max_retries=retries, backoff=0, fatal_on=KeyError)
        def fails(context: Context, *args: Any, **kwargs: Any) -> None:
            runs.append(context.attempt)
            raise KeyError if args == ("fatal",) else ValueError("no")

        id = await brought(app, "a", max_retries=1)
        await work(app)
        assert runs == [*range(1, retries + 2)]
        assert (await app.job(id).aget()).state is State.DEAD
        runs.clear()
        await brought(app, "b", "fatal", max_retries=5)
        await work(app)
        assert runs == [1]

    async def test_without_options_those_of_the_job_hold(self, app: Windlass) -> None:
        runs: list[int] = []

        @app.default
        async def fails(context: Context, *args: Any, **kwargs: Any) -> None:
            runs.append(context.attempt)
            raise ValueError("no")

        id = await brought(app, "a", max_retries=0)
        await work(app)
        assert runs == [1]
        assert (await app.job(id).aget()).state is State.DEAD

    async def test_its_timeout_holds(self, app: Windlass) -> None:
        @app.default(timeout=0.05, max_retries=0)
        async def slow(context: Context, *args: Any, **kwargs: Any) -> None:
            await asyncio.sleep(60)

        id = await brought(app, "a")
        await work(app)
        error = (await app.job(id).aget()).error
        assert error is not None and error.kind == "AttemptTimeout"

    async def test_it_runs_in_a_thread_or_a_child_and_gets_resources(self, app: Windlass) -> None:
        @app.resource
        def number() -> int:
            return 5

        @app.default
        def blocking(
            context: Context, *args: Any, five: int = Depends(number), **kwargs: Any
        ) -> list[Any]:
            return [context.job.task, *args, five]

        id = await brought(app, "a", 4)
        await work(app)
        assert await app.job(id).aresult() == ["a", 4, 5]

    async def test_it_can_run_in_a_child_process(self, app: Windlass) -> None:
        app.default(process=True)(anything)
        id = await brought(app, "a", 4)
        await work(app, WorkerSettings(concurrency=1))
        assert await app.job(id).aresult() == ["a", 4]

    async def test_a_damaged_job_and_a_workflow_are_not_its(self, app: Windlass) -> None:
        seen: Seen = []
        noting(app, seen)

        @app.task
        async def start(n: int) -> int:
            return n

        store = await app.client.store()
        await store.insert([NewJob("bad", Spec("gone", b"\xff", content_type=UNREADABLE))])
        workflow = await app.aenqueue_workflow(chain(start.step(1), start.step()))
        await work(app)
        assert await workflow.aresult() == 1
        bad = await job_of(store, "bad")
        assert (bad.state, seen) == (State.DEAD, [])

    async def test_a_batch_of_an_unknown_task_is_taken_one_by_one(self, app: Windlass) -> None:
        seen: Seen = []
        noting(app, seen)
        elsewhere = Windlass("memory://")

        @elsewhere.task(batch=Batch(size=3, grace=0))
        def many(items: list[int]) -> None: ...

        await (await app.client.store()).insert([many.call(n).job for n in range(3)])
        await work(app)
        assert sorted(seen) == [("many", (n,), {}) for n in range(3)]


def test_there_is_one_and_it_must_take_anything() -> None:
    app = Windlass("memory://")
    with pytest.raises(InvalidOption, match=r"declare it as narrow\(context: Context, \*args, \*"):

        @app.default
        def narrow(context: Context, n: int) -> None: ...

    with pytest.raises(InvalidOption, match="must be a Context"):

        @app.default
        def blind(*args: Any, **kwargs: Any) -> None: ...

    with pytest.raises(InvalidOption, match="A default handler has no option queue"):
        app.default(queue="q")(anything)  # type: ignore[call-overload]
    noting(app, [])
    with pytest.raises(InvalidOption, match="There is a default handler already, unknown"):
        noting(app, [])
