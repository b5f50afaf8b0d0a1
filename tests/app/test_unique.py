"""Unique jobs: what their keys are made of, how long they hold, and what a second one comes to."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from tests.app.engines import ENGINES, url_of
from windlass import State, Windlass
from windlass.core.codec import MSGPACK
from windlass.core.encrypt import Encrypted
from windlass.errors import DuplicateJob, InvalidArguments, InvalidOption
from windlass.middleware import Middleware, NewJob, changed
from windlass.testing.work import counts, work


@pytest.fixture(params=ENGINES)
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    return url_of(request, tmp_path)


@pytest.fixture
def ran(app: Windlass) -> list[int]:
    """What the task `note` has done, in order."""
    ran: list[int] = []

    @app.task
    async def note(n: int, loud: bool = False) -> int:
        ran.append(n)
        return n

    return ran


def note(app: Windlass, **options: Any) -> Any:
    return app.tasks["note"].using(**options)


async def waiting(app: Windlass) -> int:
    return (await counts(await app.client.store())).total()


# -- what a key is made of -------------------------------------------------------------------


async def test_a_job_can_be_unique_by_its_arguments(app: Windlass, ran: list[int]) -> None:
    task = note(app, unique=True)
    first = await task.aenqueue(1)
    for again in (task.aenqueue(n=1), task.aenqueue(1, loud=False), task.aenqueue(1, False)):
        assert (await again).duplicate
        assert (await again).id == first.id
    assert not (await task.aenqueue(2)).duplicate
    assert not (await task.aenqueue(1, loud=True)).duplicate
    await work(app)
    assert sorted(ran) == [1, 1, 2]
    assert not (await task.aenqueue(1)).duplicate


async def test_another_task_with_the_same_arguments_is_another_job(
    app: Windlass, ran: list[int]
) -> None:
    @app.task(unique=True)
    async def other(n: int, loud: bool = False) -> None: ...

    assert not (await note(app, unique=True).aenqueue(1)).duplicate
    assert not (await other.aenqueue(1)).duplicate
    assert (await other.aenqueue(1)).duplicate


async def test_a_codec_that_never_writes_the_same_twice_does_not_matter() -> None:
    app = Windlass("memory://", codec=Encrypted(MSGPACK, {"k": b"0" * 32}))

    @app.task(unique=True)
    async def other(n: int) -> None: ...

    first = await other.aenqueue(1)
    assert (await other.aenqueue(1)).id == first.id


async def test_a_task_can_make_the_key_of_the_arguments(app: Windlass) -> None:
    @app.task(unique=lambda order, **_: f"order:{order % 10}")
    async def ship(order: int, *, fast: bool = False) -> None: ...

    first = await ship.aenqueue(7)
    assert (await first.aget()).unique == "order:7"
    assert (await ship.aenqueue(17, fast=True)).id == first.id
    assert not (await ship.aenqueue(8)).duplicate
    # The key is the whole truth: the same one given by hand is the same.
    assert (await ship.using(unique="order:8").aenqueue(1)).duplicate


async def test_one_job_can_do_without(app: Windlass) -> None:
    @app.task(unique=True, unique_for=60, on_conflict="replace")
    async def ship(order: int) -> None: ...

    free = ship.using(unique=None)
    assert (free.options.unique_for, free.options.on_conflict) == (0, "reject")
    assert not (await ship.aenqueue(1)).duplicate
    assert not (await free.aenqueue(1)).duplicate
    assert (await (await free.aenqueue(1)).aget()).unique is None


async def test_many_at_once_are_held_against_each_other(app: Windlass, ran: list[int]) -> None:
    task = note(app, unique=True)
    first, second, other = await app.aenqueue_many([task.call(1), task.call(n=1), task.call(2)])
    assert (first.duplicate, second.duplicate, other.duplicate) == (False, True, False)
    assert second.id == first.id


async def test_blocking_code_can_say_it_too(app: Windlass, ran: list[int]) -> None:
    task = note(app, unique=True)
    first = await asyncio.to_thread(task.enqueue, 1)
    assert (await asyncio.to_thread(task.enqueue, 1)).id == first.id


# -- how long it holds -----------------------------------------------------------------------


async def test_a_key_until_the_start_lets_the_next_one_in_while_it_runs(app: Windlass) -> None:
    later: list[bool] = []

    @app.task(unique="poll", unique_for="started")
    async def poll(n: int) -> None:
        later.append((await poll.aenqueue(n - 1)).duplicate if n else False)

    assert not (await poll.aenqueue(1)).duplicate
    assert (await poll.aenqueue(1)).duplicate
    await work(app)
    assert later == [False, False]


async def test_a_key_for_a_window_outlasts_the_job(app: Windlass, ran: list[int]) -> None:
    task = note(app, unique="daily", unique_for=3600)
    first = await task.aenqueue(1)
    await work(app)
    again = await task.aenqueue(2)
    assert (again.duplicate, again.id) == (True, first.id)
    assert await again.aresult() == 1
    assert ran == [1]


async def test_a_window_ends(app: Windlass, ran: list[int]) -> None:
    task = note(app, unique="blink", unique_for=0.05)
    await task.aenqueue(1)
    await asyncio.sleep(0.1)
    assert not (await task.aenqueue(2)).duplicate


# -- what a second one comes to --------------------------------------------------------------


async def test_a_job_that_waits_can_be_replaced(app: Windlass, ran: list[int]) -> None:
    task = note(app, unique="index", on_conflict="replace", delay=0.05)
    first = await task.aenqueue(1)
    second = await task.aenqueue(2)
    assert (second.duplicate, second.id) == (True, first.id)
    await asyncio.sleep(0.1)
    await work(app)
    assert ran == [2]
    assert await first.aresult() == 2


async def test_the_last_one_waits_while_one_runs(app: Windlass) -> None:
    ran: list[int] = []
    handles: list[Any] = []

    @app.task(unique="sync", on_conflict="last")
    async def sync(n: int) -> int:
        ran.append(n)
        if n == 0:
            handles.extend([await sync.aenqueue(1), await sync.aenqueue(2)])
            assert (await handles[0].aget()).state is State.BLOCKED
        return n

    await sync.aenqueue(0)
    await work(app)
    assert ran == [0, 2]
    assert [(job.duplicate, job.id == handles[0].id) for job in handles] == [
        (False, True),
        (True, True),
    ]


async def test_who_rejects_gets_the_job_that_stands_for_it(app: Windlass, ran: list[int]) -> None:
    first = await note(app, unique="k").aenqueue(1)
    second = await note(app, unique="k", on_conflict="reject").aenqueue(2)
    await work(app)
    assert (second.id, await second.aresult(), ran) == (first.id, 1, [1])


# -- what cannot be --------------------------------------------------------------------------

WRONG = [
    ({"unique": ""}, "unique is a text of 1 to 255 characters."),
    ({"unique": "a\nb"}, "unique has printable characters only."),
    ({"unique": False}, "unique is a text of 1 to 255 characters."),
    ({"unique_for": 60}, "unique_for says something about unique, which is not given."),
    ({"on_conflict": "last"}, "on_conflict says something about unique, which is not given."),
    ({"unique": None, "unique_for": 60}, "unique_for says something about unique"),
    ({"unique": "k", "unique_for": 0}, "unique_for must be above 0."),
    ({"unique": "k", "unique_for": -1}, "unique_for must be a finite number of seconds"),
    ({"unique": "k", "unique_for": "done"}, "unique_for is finished, started, or a number of"),
    ({"unique": "k", "unique_for": True}, "unique_for is a number of seconds or a timedelta"),
    (
        {"unique": "k", "on_conflict": "ignore"},
        "on_conflict is reject, replace, last or raise; got",
    ),
    (
        {"unique": "k", "on_conflict": "replace", "depends_on": "x"},
        "A job with on_conflict='replace' cannot have depends_on",
    ),
    (
        {"unique": "k", "on_conflict": "last", "depends_on": ["x"]},
        "A job with on_conflict='last' cannot have depends_on",
    ),
]


@pytest.mark.parametrize(("options", "sentence"), WRONG)
async def test_what_cannot_be_is_refused_where_it_is_written(
    options: dict[str, Any], sentence: str
) -> None:
    app = Windlass("memory://")

    @app.task
    async def task() -> None: ...

    with pytest.raises(InvalidOption) as caught:
        task.using(**options)
    assert sentence in str(caught.value)
    assert "\n" not in str(caught.value)
    if "depends_on" not in options:
        with pytest.raises(InvalidOption):
            app.task(name="other", **options)(task.definition.func)
    assert await waiting(app) == 0


@pytest.mark.parametrize("made", [None, 7, "", "x" * 256])
async def test_a_function_must_make_a_key(made: Any) -> None:
    app = Windlass("memory://")

    @app.task(unique=lambda: made)
    async def task() -> None: ...

    with pytest.raises(InvalidOption, match="unique is a text of 1 to 255 characters"):
        task.aenqueue()
    assert await waiting(app) == 0


async def test_arguments_are_checked_before_a_key_is_made_of_them() -> None:
    app = Windlass("memory://")

    @app.task(unique=lambda order: order.upper())
    async def ship(order: str) -> None: ...

    with pytest.raises(InvalidArguments):
        ship.aenqueue()  # type: ignore[call-arg]


async def test_neither_schedules_nor_steps_have_keys() -> None:
    app = Windlass("memory://")

    @app.task(unique=True)
    async def task() -> None: ...

    with pytest.raises(InvalidOption, match="cannot have id, delay, at, unique"):
        app.cron("@hourly")(task)
    app.cron("@hourly", unique=None)(task)
    with pytest.raises(InvalidOption, match="each step has to run whoever holds a key"):
        task.using(unique="mine").step()
    assert task.step().job.unique is None


async def test_middleware_that_changes_a_job_leaves_what_it_is_unique_by(app: Windlass) -> None:
    class Urgent(Middleware):
        def enqueue(self, job: NewJob) -> NewJob:
            return changed(job, priority=99)

    app.add_middleware(Urgent())

    @app.task(unique=True, unique_for="started", on_conflict="replace")
    async def task(n: int) -> None: ...

    job = app.registry.middleware.before([task.call(1).job])[0]
    assert job.unique == task.call(1).job.unique
    assert (job.spec.unique_for, job.conflict, job.priority) == (-1, "replace", 99)
    with pytest.raises(InvalidOption, match="unique must be a text here: changed"):
        changed(job, unique=True)


async def test_a_job_that_was_there_raises_for_who_asks_for_it(
    app: Windlass, ran: list[int]
) -> None:
    first = await note(app, unique="k").aenqueue(1)
    strict = note(app, unique="k", on_conflict="raise")
    with pytest.raises(DuplicateJob, match=rf"{first.id} holds its unique key 'k'") as caught:
        await strict.aenqueue(2)
    assert (caught.value.id, caught.value.handle.id) == (first.id, first.id)
    await work(app)
    assert not (await strict.aenqueue(3)).duplicate


async def test_so_does_an_id_that_exists(app: Windlass, ran: list[int]) -> None:
    once = note(app, id="one", on_conflict="raise")
    await once.aenqueue(1)
    with pytest.raises(DuplicateJob, match="No job of note was stored: one was there before"):
        await once.aenqueue(1)
    assert await waiting(app) == 1


def test_so_does_blocking_code(url: str) -> None:
    app = Windlass(url)

    @app.task(on_conflict="raise")
    def add(a: int) -> int:
        return a

    add.using(id="one").enqueue(1)
    with pytest.raises(DuplicateJob) as caught:
        add.using(id="one").enqueue(1)
    assert caught.value.handle.get().id == "one"
    app.close()


async def test_of_many_the_others_are_stored_before_it_is_raised(
    app: Windlass, ran: list[int]
) -> None:
    await note(app, unique="k").aenqueue(1)
    calls = [
        note(app).call(2),
        note(app, unique="k", on_conflict="raise").call(3),
        note(app, unique="k").call(4),
    ]
    with pytest.raises(DuplicateJob) as caught:
        await app.aenqueue_many(calls)
    assert [handle.duplicate for handle in caught.value.handles] == [False, True, True]
    assert await waiting(app) == 2


async def test_a_middleware_cannot_ask_for_it(app: Windlass, ran: list[int]) -> None:
    job = note(app, unique="k").call(1).job
    with pytest.raises(InvalidOption, match="is for the caller to say"):
        changed(job, on_conflict="raise")
