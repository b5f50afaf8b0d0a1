# mypy: ignore-errors
"""A call must fit the task's signature, whichever way the job is made."""

from typing import assert_type

from windlass import Windlass

app = Windlass("memory://")


@app.task
def add(left: int, right: int = 0, *, scale: float = 1.0) -> str:
    return str((left + right) * scale)


@app.task(queue="mail", max_retries=5, timeout=30)
def send(address: str, *, subject: str) -> None: ...


@app.task
def collect(*numbers: int, **names: str) -> None: ...


def right_calls() -> None:
    add.enqueue(1)
    add.enqueue(1, 2, scale=3)
    add.enqueue(left=1, right=2)
    add.call(1, scale=2.5)
    add.using(priority="high").enqueue(1)
    send.enqueue("a@example.org", subject="Hi")
    send.using(delay=60).call("a@example.org", subject="Hi")
    collect.enqueue(1, 2, 3, a="x")
    assert_type(add(1), str)


def wrong_types() -> None:
    add.enqueue("1")  # expect: arg-type / reportArgumentType
    add.enqueue(1, scale="big")  # expect: arg-type / reportArgumentType
    add.call(None)  # expect: arg-type / reportArgumentType
    add.using(priority=75).enqueue("1")  # expect: arg-type / reportArgumentType
    add.using(priority=75).call("1")  # expect: arg-type / reportArgumentType
    send.enqueue(b"a@example.org", subject="Hi")  # expect: arg-type / reportArgumentType
    collect.enqueue("1")  # expect: arg-type / reportArgumentType
    collect.enqueue(a=1)  # expect: arg-type / reportArgumentType
    add("1")  # expect: arg-type / reportArgumentType


def missing_arguments() -> None:
    add.enqueue()  # expect: call-arg / reportCallIssue
    add.call()  # expect: call-arg / reportCallIssue
    add.using(queue="fast").enqueue()  # expect: call-arg / reportCallIssue
    send.enqueue("a@example.org")  # expect: call-arg / reportCallIssue
    add()  # expect: call-arg / reportCallIssue


def extra_arguments() -> None:
    add.enqueue(1, 2, 3)  # expect: call-arg / reportCallIssue
    add.call(1, 2, 3)  # expect: call-arg / reportCallIssue
    send.enqueue("a@example.org", "Hi", subject="Hi")  # expect: misc / reportCallIssue


def wrong_keywords() -> None:
    add.enqueue(1, rihgt=2)  # expect: call-arg / reportCallIssue
    add.call(1, delay=60)  # expect: call-arg / reportCallIssue
    send.enqueue("a@example.org", subject="Hi", queue="mail")  # expect: call-arg / reportCallIssue


async def the_same_from_async_code() -> None:
    await add.aenqueue(1, 2, scale=3)
    await add.using(delay=1).aenqueue(left=1)
    await add.aenqueue("1")  # expect: arg-type / reportArgumentType
    await add.aenqueue()  # expect: call-arg / reportCallIssue
    await add.aenqueue(1, 2, 3)  # expect: call-arg / reportCallIssue
    await add.aenqueue(1, rihgt=2)  # expect: call-arg / reportCallIssue
    await add.using(delay=1).aenqueue("1")  # expect: arg-type / reportArgumentType
