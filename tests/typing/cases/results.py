# mypy: ignore-errors
"""A result has the type that the function returns."""

from asyncio import Future
from collections.abc import Coroutine, Sequence
from dataclasses import dataclass
from typing import Any, assert_type

from windlass import Job, JobHandle, Windlass

app = Windlass("memory://")


@dataclass
class Report:
    title: str


@app.task
def greet(name: str) -> str:
    return f"Hello, {name}"


@app.task(queue="reports")
def build(title: str) -> Report:
    return Report(title)


@app.task
async def fetch(url: str) -> bytes:
    return url.encode()


@app.task(timeout=5)
async def count(url: str) -> int:
    return len(url)


def from_blocking_code() -> None:
    job = greet.enqueue("Ada")
    assert_type(job, JobHandle[str])
    assert_type(job.result(), str)
    assert_type(job.result(timeout=5), str)
    assert_type(job.get(), Job)
    assert_type(build.enqueue("Q3").result(), Report)
    assert_type(greet.using(delay=60).enqueue("Ada").result(), str)
    assert_type(greet.handle(job.id).result(), str)
    # The result of an async task is what it returns, not a coroutine.
    assert_type(fetch.enqueue("/").result(), bytes)
    assert_type(count.enqueue("/").result(), int)
    greet.enqueue(count.enqueue("/").result())  # expect: arg-type / reportArgumentType


async def from_async_code() -> None:
    job = await fetch.aenqueue("/")
    assert_type(job, JobHandle[bytes])
    assert_type(await job.aresult(), bytes)
    assert_type(await (await greet.aenqueue("Ada")).aresult(), str)
    assert_type(await (await count.using(unique="x").aenqueue("/")).aresult(timeout=1), int)
    going = fetch.aenqueue("/")
    # Without an await there is no handle yet.
    assert_type(going, Future[JobHandle[bytes]])


async def calling_the_function_itself() -> None:
    assert_type(greet("Ada"), str)
    assert_type(build("Q3").title, str)
    coroutine = assert_type(fetch("/"), Coroutine[Any, Any, bytes])
    assert_type(await coroutine, bytes)
    assert_type(await count("/"), int)


def many_at_once() -> None:
    jobs = app.enqueue_many(greet.call(name) for name in ("Ada", "Bob"))
    assert_type(jobs, Sequence[JobHandle[str]])
    assert_type([job.result() for job in jobs], list[str])
    app.enqueue_many([greet.enqueue("Ada")])  # expect: arg-type / reportArgumentType


async def many_at_once_from_async_code() -> None:
    jobs = await app.aenqueue_many([count.call("/"), count.call("/a")])
    assert_type(jobs, Sequence[JobHandle[int]])
