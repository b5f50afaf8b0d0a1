"""Whatever a caller hands over is refused where it is called, or comes to what the table says."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from tests.app.engines import ENGINES, url_of
from tests.hostile.handlers.calling import ACTS, ARGUMENTS, OPTIONS, RECORDS, Act, Call, Options
from windlass import JobHandle, Windlass
from windlass.core.model import JobQuery, NewJob
from windlass.core.states import State
from windlass.errors import UsageError
from windlass.testing.work import work

CALLS = [*ARGUMENTS, *OPTIONS, *RECORDS]
PLAIN = 20


@pytest.fixture(params=ENGINES)
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    return url_of(request, tmp_path)


@pytest.fixture
async def app(url: str) -> AsyncIterator[Windlass]:
    app = Windlass(url)

    @app.task(max_retries=1)
    async def takes(value: Any) -> None: ...

    @app.task
    async def counts(number: int) -> int:
        return number

    yield app
    await app.aclose()
    app.close()


async def test_a_hostile_call_is_refused_or_harms_its_own_job_alone(app: Windlass) -> None:
    counts = app.tasks["counts"]
    plain = [*await app.aenqueue_many(counts.call(number) for number in range(PLAIN // 2))]
    ids, wrong = {}, []
    for call in CALLS:
        for enqueue in (blocking, on_loop):
            came = await enqueue(app, call)
            if isinstance(came, str):
                ids[came] = call
            elif call.state is not None or not fits(call, came):
                wrong.append(f"{call.what}: {type(came).__name__}: {str(came)[:200]}")
    plain += await app.aenqueue_many(counts.call(number) for number in range(PLAIN // 2, PLAIN))
    store = await app.client.store()
    found = (await store.find(JobQuery(limit=1000))).jobs
    assert {job.id for job in found} == {*ids, *(job.id for job in plain)}
    await work(app, timeout=60)
    jobs = await store.get([*ids])
    for id, call in ids.items():
        job = jobs[id]
        kind, text = (job.error.kind, job.error.message) if job.error else ("", "")
        if (job.state, kind) != (call.state, call.kind) or call.text not in text:
            wrong.append(f"{call.what}: {job.state} {kind}: {text[:200]}")
    assert [await job.aresult() for job in plain] == [*range(PLAIN)]
    assert {(await job.aget()).attempt for job in plain} == {1}
    assert not wrong, "\n".join(wrong)


async def test_a_hostile_call_of_the_app_is_refused_and_changes_nothing(app: Windlass) -> None:
    wrong = []
    for act in ACTS:
        try:
            await asyncio.to_thread(act.act, app)
        except Exception as error:
            if not fits(act, error):
                wrong.append(f"{act.what}: {type(error).__name__}: {str(error)[:200]}")
        else:
            wrong.append(f"{act.what}: it is taken")
    store = await app.client.store()
    assert not (await store.find(JobQuery())).jobs
    assert not await app.schedules.alist()
    assert not wrong, "\n".join(wrong)


def fits(call: Call | Act, error: Exception) -> bool:
    """Whether it is refused with the sentence of its row."""
    said = str(error)
    return type(error).__name__ == call.kind and call.text in said and len(said) < 1_000


async def blocking(app: Windlass, call: Call) -> str | Exception:
    """The id of the job, or why there is none."""
    return await asyncio.to_thread(enqueued, app, call)


def enqueued(app: Windlass, call: Call) -> str | Exception:
    try:
        made = call.make()
        if isinstance(made, NewJob):
            [receipt] = app.client.insert([made], "x", "y")
            return receipt.id
        task, args = prepared(app, call, made)
        handle: JobHandle[Any] = task.enqueue(*args)
        return handle.id
    except (UsageError, RecursionError) as error:
        return error


async def on_loop(app: Windlass, call: Call) -> str | Exception:
    try:
        made = call.make()
        if isinstance(made, NewJob):
            [receipt] = await (await app.client.store()).insert([made])
            return receipt.id
        task, args = prepared(app, call, made)
        handle: JobHandle[Any] = await task.aenqueue(*args)
        return handle.id
    except (UsageError, RecursionError) as error:
        return error


def prepared(app: Windlass, call: Call, made: Any) -> tuple[Any, tuple[Any, ...]]:
    task = app.tasks[call.task]
    if isinstance(made, Options):
        return task.using(**made), (1,)
    return task, made if isinstance(made, tuple) else (made,)


async def test_one_id_twice_in_one_call_is_one_job(app: Windlass) -> None:
    call = app.tasks["counts"].using(id="twice").call(1)
    first, second = await app.aenqueue_many([call, call])
    assert (first.id, first.duplicate, second.id, second.duplicate) == (
        "twice",
        False,
        "twice",
        True,
    )
    await work(app)
    assert (await first.aget()).state is State.COMPLETED
