# mypy: ignore-errors
"""A task that takes batches is enqueued item by item."""

from typing import assert_type

from windlass import Batch, Depends, Windlass

app = Windlass("memory://")


@app.resource
def database() -> int:
    return 7


@app.task(batch=Batch(size=100, grace=1.0, max_delay=10.0))
async def index(pages: list[str]) -> list[int]:
    return [len(page) for page in pages]


@app.task(batch=Batch(size=100), queue="mail")
def send(addresses: list[str]) -> None: ...


@app.task(batch=Batch(size=10))
async def asend(addresses: list[str], by: int = Depends(database)) -> None: ...


@app.task(batch=Batch(size=100))
def judge(words: list[str]) -> list[int | Exception]:
    return [len(word) if word else ValueError("empty") for word in words]


def right_calls() -> None:
    assert_type(index.enqueue("/home").result(), int)
    assert_type(judge.enqueue("word").result(), int)
    assert_type(send.enqueue("a@example.org").result(), None)
    asend.using(delay=5).enqueue("a@example.org")
    app.enqueue_many(index.call(page) for page in ("/", "/home"))


def wrong_calls() -> None:
    index.enqueue(["/home"])  # expect: arg-type / reportArgumentType
    index.enqueue("/home", "/about")  # expect: call-arg / reportCallIssue
    send.enqueue(7)  # expect: arg-type / reportArgumentType


def wrong_declarations() -> None:
    def one(page: str) -> None: ...

    app.task(batch=100)(send)  # expect: call-overload / reportArgumentType reportCallIssue
    app.task(batch=Batch(size=5))(one)  # expect: arg-type / reportArgumentType reportCallIssue
    Batch()  # expect: call-arg / reportCallIssue
