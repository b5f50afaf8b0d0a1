# mypy: ignore-errors
"""Options are typed where they are given: to the decorator, and to `using`."""

import sqlite3
from collections.abc import Callable
from datetime import UTC, datetime, timedelta

from windlass import Delays, Exponential, Fixed, Limit, Task, Windlass

app = Windlass("memory://")


def wait(n: int, error: BaseException | None) -> float:
    return 2.0 * n


@app.task(
    name="mail.send",
    queue="mail",
    priority="high",
    max_retries=5,
    timeout=timedelta(minutes=1),
    keep=0,
    unique=True,
    unique_for="started",
    on_conflict="replace",
    backoff=Exponential(base=1, cap=60),
    jitter=0.1,
    retry_on=OSError,
    fatal_on=(ValueError, KeyError),
)
def send(address: str) -> str:
    return address


@app.task(backoff=[1, 5, 60])
def by_list() -> None: ...


@app.task(backoff=2.5)
def by_number() -> None: ...


@app.task(backoff=wait)
def by_function() -> None: ...


@app.task(backoff=Fixed(3))
def by_policy() -> None: ...


@app.task(backoff=Delays([1, 2]))
def by_table() -> None: ...


def key(address: str) -> str:
    return f"mail:{address}"


@app.task(unique=key, unique_for=timedelta(hours=1))
def by_key(address: str) -> None: ...


@app.task(limit=Limit(rate="10/s", burst=5, concurrency=2, key=key, name="mail"))
def limited(address: str) -> None: ...


@app.task(sequence=key, group=key, weight=5)
def in_order(address: str) -> None: ...


@app.task(timeout=None)
def without_options_of_note() -> None: ...


def right_options() -> None:
    send.using(queue="other", priority=75, max_retries=0, timeout=5, keep=timedelta(days=7))
    send.using(id="order-7", delay=timedelta(hours=1), unique="order:7", labels={"by": "ci"})
    send.using(at=datetime.now(UTC)).using(priority="low").enqueue("a@example.org")
    send.using(connection=sqlite3.connect("jobs.db"), delay=1).enqueue("a@example.org")
    app.enqueue_many([send.call("a@example.org")], connection=sqlite3.connect("jobs.db"))
    send.using(unique=None).using(unique="k", unique_for=60, on_conflict="last")
    send.using(limit=Limit(rate=(10, 1.0), window=True)).using(limit=None, sequence="a")
    task: Task[[str], str, str] = send.using(delay=1)
    task.enqueue("a@example.org")


def wrong_options() -> None:
    send.using(priority=7.5)  # expect: arg-type / reportArgumentType
    send.using(queue=7)  # expect: arg-type / reportArgumentType
    send.using(dealy=60)  # expect: call-arg / reportCallIssue
    send.using(at="tomorrow")  # expect: arg-type / reportArgumentType
    send.using(labels={"by": 1})  # expect: dict-item / reportArgumentType
    send.using(unique=7)  # expect: arg-type / reportArgumentType
    send.using(unique="k", unique_for="done")  # expect: arg-type / reportArgumentType
    send.using(unique="k", on_conflict="ignore")  # expect: arg-type / reportArgumentType
    send.using(limit=5)  # expect: arg-type / reportArgumentType
    send.using(limit=Limit(rate=5))  # expect: arg-type / reportArgumentType
    send.using(group="a", weight=1.5)  # expect: arg-type / reportArgumentType
    send.using(sequence=5)  # expect: arg-type / reportArgumentType
    send.using(backoff=1)  # expect: call-arg / reportCallIssue


def wrong_declarations(func: Callable[[], None]) -> None:
    app.task(max_retries="5")(func)  # expect: call-overload / reportArgumentType
    app.task(retries=5)(func)  # expect: call-overload / reportCallIssue
    app.task(delay=60)(func)  # expect: call-overload / reportCallIssue
    app.task(connection=None)(func)  # expect: call-overload / reportCallIssue
    app.task(retry_on="OSError")(func)  # expect: call-overload / reportArgumentType
    app.task(backoff="slow")(func)  # expect: arg-type / reportArgumentType
