"""Jobs that wait for other jobs: what `depends_on` takes, and what becomes of the job."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from tests.app.engines import ENGINES, url_of
from windlass import State, Windlass
from windlass.errors import InvalidOption, JobCancelled, JobFailed, UnknownJob
from windlass.middleware import Middleware, NewJob, changed
from windlass.testing.work import counts, work

BOOM = "boom"


@pytest.fixture(params=ENGINES)
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    return url_of(request, tmp_path)


@pytest.fixture
def ran(app: Windlass) -> list[str]:
    """What the tasks of these tests have done, in order."""
    ran: list[str] = []

    @app.task
    async def note(text: str) -> str:
        ran.append(text)
        return text

    @app.task(max_retries=0)
    async def fail() -> None:
        raise ValueError(BOOM)

    return ran


def task(app: Windlass, name: str = "note") -> Any:
    return app.tasks[name]


async def test_a_job_waits_for_one_that_is_given_in_any_way(app: Windlass, ran: list[str]) -> None:
    note = task(app)
    first = await note.using(priority="low").aenqueue("first")
    ways = {"handle": first, "id": first.id, "job": await first.aget(), "list": [first]}
    for name, parent in ways.items():
        second = await note.using(depends_on=parent, priority="high").aenqueue(name)
        stored = await second.aget()
        assert (stored.state, stored.waits_for) == (State.BLOCKED, (first.id,))
    await work(app)
    assert ran[0] == "first"
    assert sorted(ran[1:]) == sorted(ways)


async def test_a_diamond_runs_its_end_once_and_last(app: Windlass, ran: list[str]) -> None:
    note = task(app)
    calls = [
        note.using(id="a").call("a"),
        note.using(id="b", depends_on="a").call("b"),
        note.using(id="c", depends_on="a").call("c"),
        note.using(id="d", depends_on=["b", "c", "b"]).call("d"),
    ]
    await app.aenqueue_many(calls)
    await work(app)
    assert (ran[0], sorted(ran[1:3]), ran[3:]) == ("a", ["b", "c"], ["d"])


async def test_an_orphan_is_cancelled_with_the_reason(app: Windlass, ran: list[str]) -> None:
    failing = await task(app, "fail").aenqueue()
    orphan = await task(app).using(depends_on=failing).aenqueue("orphan")
    of_it = await task(app).using(depends_on=orphan).aenqueue("of it")
    await work(app)
    with pytest.raises(JobFailed, match=BOOM):
        await failing.aresult()
    for job in (orphan, of_it):
        with pytest.raises(JobCancelled, match=f"job {failing.id}, which it depends on, is dead"):
            await job.aresult()
    assert ran == []


async def test_an_orphan_that_is_to_run_runs(app: Windlass, ran: list[str]) -> None:
    failing = await task(app, "fail").aenqueue()
    cleanup = await task(app).using(depends_on=failing, orphaned="run").aenqueue("cleanup")
    await work(app)
    assert await cleanup.aresult() == "cleanup"


async def test_an_unknown_parent_is_told_and_nothing_is_written(
    app: Windlass, ran: list[str]
) -> None:
    note = task(app)
    with pytest.raises(UnknownJob, match="cannot depend on nobody: there is no such job"):
        await note.using(depends_on="nobody").aenqueue("x")
    with pytest.raises(UnknownJob):
        await app.aenqueue_many([note.call("x"), note.using(depends_on=["nobody"]).call("y")])
    assert not await counts(await app.client.store())


async def test_a_cycle_is_told_and_nothing_is_written(app: Windlass, ran: list[str]) -> None:
    note = task(app)
    with pytest.raises(InvalidOption, match="Job a cannot depend on itself"):
        note.using(id="a", depends_on="a")
    circle = [
        note.using(id="a", depends_on="c").call("a"),
        note.using(id="b", depends_on="a").call("b"),
        note.using(id="c", depends_on="b").call("c"),
    ]
    with pytest.raises(InvalidOption, match=r"wait for each other and could never run: \w -> "):
        app.aenqueue_many(circle)
    assert not await counts(await app.client.store())


async def test_a_parent_that_comes_later_in_the_call_is_told(app: Windlass, ran: list[str]) -> None:
    note = task(app)
    calls = [note.using(id="a", depends_on="b").call("a"), note.using(id="b").call("b")]
    with pytest.raises(InvalidOption, match="put b first"):
        app.aenqueue_many(calls)
    await app.aenqueue_many(reversed(calls))
    await work(app)
    assert ran == ["b", "a"]


@pytest.mark.parametrize(
    ("option", "match"),
    [
        ({"depends_on": 7}, "by its handle or its id; got 7"),
        ({"depends_on": [None]}, "by its handle or its id; got None"),
        ({"depends_on": ""}, "1 to 128 characters"),
        ({"orphaned": "ignore"}, "orphaned is cancel or run; got 'ignore'"),
    ],
)
async def test_what_cannot_be_is_refused_where_it_is_written(
    app: Windlass, ran: list[str], option: dict[str, Any], match: str
) -> None:
    with pytest.raises(InvalidOption, match=match):
        task(app).using(**option)


async def test_a_task_cannot_depend_on_a_job(app: Windlass) -> None:
    with pytest.raises(InvalidOption, match="depends_on is for one job; give it to using"):
        app.task(depends_on="x")(print)  # type: ignore[call-overload]


async def test_middleware_that_changes_a_job_leaves_its_parents_and_its_end(
    app: Windlass, ran: list[str]
) -> None:
    class Urgent(Middleware):
        def enqueue(self, job: NewJob) -> NewJob:
            return changed(job, priority=99)

    app.add_middleware(Urgent())
    first = await task(app).aenqueue("first")
    using = task(app).using(depends_on=first, orphaned="run", expires_in=60)
    spec = (await (await using.aenqueue("second")).aget()).spec
    assert (spec.parents, spec.runs_anyway, spec.expires_in) == ((first.id,), True, 60_000)


async def test_blocking_code_can_say_it_too(app: Windlass, ran: list[str]) -> None:
    first = await asyncio.to_thread(task(app).enqueue, "first")
    second = await asyncio.to_thread(task(app).using(depends_on=[first]).enqueue, "second")
    assert (await second.aget()).waits_for == (first.id,)
