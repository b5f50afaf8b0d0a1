"""The tasks of the app, and what each of them takes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from ...admin.record import as_json
from ...core.parameter import Described
from .call import Call


class ParameterView(msgspec.Struct, frozen=True):
    """What a job is given."""

    name: str
    kind: str
    """positional, either, rest (any number), named, or others (any names)"""
    annotation: str | None
    """its type, as it is written"""
    schema: Mapping[str, Any] | None
    """its type as JSON Schema, if it can be said so"""
    required: bool
    default: Any
    """null too if there is none"""


class TaskView(msgspec.Struct, frozen=True):
    """A task of the app: what a job of it takes, and what holds unless a job says otherwise."""

    name: str
    signature: str
    doc: str | None
    queue: str
    priority: int
    max_retries: int
    timeout: float | None
    parameters: Sequence[ParameterView]


class TaskList(msgspec.Struct, frozen=True):
    """The tasks that the app has; `known` is false without an app: any name is taken then."""

    known: bool
    tasks: Sequence[TaskView]


async def list_tasks(call: Call[None, None]) -> TaskList:
    """List the tasks of the app, with their signatures."""
    # A key with queues is told of theirs: what others do is not its affair.
    known, own = call.site.app.tasks if call.site.has_tasks else {}, call.caller.queues
    tasks = {name: task for name, task in known.items() if not own or task.options.queue in own}
    views = [
        TaskView(
            name,
            str(task.definition.arguments),
            task.__doc__,
            task.options.queue,
            task.options.priority,
            task.options.max_retries,
            None if task.options.timeout is None else task.options.timeout / 1000,
            [_parameter_view(each) for each in task.definition.arguments.describe()],
        )
        for name, task in sorted(tasks.items())
    ]
    return TaskList(call.site.has_tasks, views)


def _parameter_view(each: Described) -> ParameterView:
    return ParameterView(**each._replace(default=as_json(each.default))._asdict())
