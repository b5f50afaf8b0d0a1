# mypy: ignore-errors
"""A resource has the type of what its function yields or returns; callers leave it out."""

from collections.abc import AsyncGenerator, AsyncIterator, Generator, Iterator
from contextlib import AbstractContextManager
from typing import assert_type

from windlass import Context, Depends, Resource, Windlass

app = Windlass("memory://")


class Pool:
    def get(self) -> str:
        return ""


@app.resource
async def by_async_iterator() -> AsyncIterator[Pool]:
    yield Pool()


@app.resource
async def by_async_generator() -> AsyncGenerator[Pool, None]:
    yield Pool()


@app.resource
def by_iterator() -> Iterator[Pool]:
    yield Pool()


@app.resource
def by_generator() -> Generator[Pool, None, None]:
    yield Pool()


@app.resource
async def by_coroutine() -> Pool:
    return Pool()


@app.resource
def by_function() -> Pool:
    return Pool()


@app.resource
async def needs_another(pool: Pool = Depends(by_function)) -> AsyncIterator[str]:
    yield pool.get()


assert_type(by_async_iterator, Resource[Pool])
assert_type(by_async_generator, Resource[Pool])
assert_type(by_iterator, Resource[Pool])
assert_type(by_generator, Resource[Pool])
assert_type(by_coroutine, Resource[Pool])
assert_type(by_function, Resource[Pool])
assert_type(needs_another, Resource[str])


@app.task
def send(user: int, pool: Pool = Depends(by_async_iterator)) -> str:
    return pool.get()


@app.task(context=True, queue="mail")
async def asend(ctx: Context, user: int, *, pool: Pool = Depends(by_function)) -> int:
    return user


@app.on_startup
async def warm(pool: Pool = Depends(by_function)) -> None: ...


@app.on_shutdown
def flush(text: str = Depends(needs_another)) -> None: ...


def right_calls() -> None:
    assert_type(send.enqueue(1).result(), str)
    assert_type(asend.enqueue(user=1).result(), int)
    assert_type(send(1, Pool()), str)
    assert_type(send(1, pool=Pool()), str)
    assert_type(app.override(by_function, Pool()), AbstractContextManager[None])


async def right_async_calls() -> None:
    assert_type(await asend(1, pool=Pool()), int)
    await warm()


def wrong_calls() -> None:
    send.enqueue()  # expect: call-arg / reportCallIssue
    send.enqueue("1")  # expect: arg-type / reportArgumentType
    send(1, "pool")  # expect: arg-type / reportArgumentType
    app.override(by_function, "pool")  # expect: misc / reportArgumentType
    Depends(right_calls)  # expect: arg-type / reportArgumentType


def wrong_type(pool: str = Depends(by_function)) -> None:  # expect: assignment / reportArgumentType
    ...
