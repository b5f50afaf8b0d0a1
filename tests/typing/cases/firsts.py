# mypy: ignore-errors
"""A first parameter that takes anything is an argument like every other.

It takes a Context as well, so a decorator that told the tasks with a context
by their signatures took this parameter away: see docs/adr/0006-context-is-explicit.md.
"""

from typing import Any, assert_type

from windlass import Windlass

app = Windlass("memory://")


@app.task
def of_object(value: object, indent: int = 0) -> str:
    return f"{value}{indent}"


@app.task(queue="dumps")
def of_object_with_options(value: object, indent: int = 0) -> str:
    return f"{value}{indent}"


@app.task
async def of_object_async(value: object) -> str:
    return str(value)


@app.task
def of_any(value: Any, indent: int = 0) -> str:
    return f"{value}{indent}"


@app.task(queue="dumps")
async def of_any_with_options(value: Any, indent: int = 0) -> str:
    return f"{value}{indent}"


def right_calls() -> None:
    assert_type(of_object.enqueue({"a": 1}, 2).result(), str)
    assert_type(of_object_with_options.enqueue({"a": 1}, indent=2).result(), str)
    assert_type(of_object_async.enqueue({"a": 1}).result(), str)
    assert_type(of_any.enqueue({"a": 1}, 2).result(), str)
    assert_type(of_any_with_options.enqueue({"a": 1}, 2).result(), str)
    of_any.using(delay=1).enqueue(value=1)


def the_parameter_is_still_there() -> None:
    of_object.enqueue()  # expect: call-arg / reportCallIssue
    of_object_with_options.enqueue()  # expect: call-arg / reportCallIssue
    of_object_async.enqueue()  # expect: call-arg / reportCallIssue
    of_any.enqueue()  # expect: call-arg / reportCallIssue
    of_any_with_options.enqueue()  # expect: call-arg / reportCallIssue


def so_the_second_is_not_taken_for_the_first() -> None:
    of_object.enqueue({"a": 1}, "2")  # expect: arg-type / reportArgumentType
    of_any.enqueue({"a": 1}, "2")  # expect: arg-type / reportArgumentType
    of_any_with_options.enqueue({"a": 1}, "2")  # expect: arg-type / reportArgumentType
