# mypy: ignore-errors
"""Calls of several tasks can go together: a handle is as good as one of a wider type."""

from collections.abc import Sequence

from windlass import JobHandle, Windlass

app = Windlass("memory://")


@app.task
def greet(name: str) -> str:
    return name


@app.task
def count(name: str) -> int:
    return len(name)


def many_jobs_of_several_tasks() -> Sequence[JobHandle[object]]:
    return app.enqueue_many([greet.call("Ada"), count.call("Ada")])


def a_handle_of_one_type_is_not_one_of_another() -> JobHandle[int]:
    return greet.enqueue("Ada")  # expect: return-value / reportReturnType
