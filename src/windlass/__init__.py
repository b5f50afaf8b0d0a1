"""Windlass: a distributed task queue. Start on SQLite, grow onto the engines you run.

Names are imported when they are first used: so that `windlass --help` and a program that
only needs one exception do not wait for the rest.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .admin.scheduling import ScheduleInfo as ScheduleInfo
    from .admin.workflow import WorkflowHandle as WorkflowHandle
    from .app import Windlass as Windlass
    from .connection import Connection as Connection
    from .connection import connect as connect
    from .core.attempts import AttemptRecord as AttemptRecord
    from .core.attempts import LogLine as LogLine
    from .core.batch import Batch as Batch
    from .core.context import Context as Context
    from .core.context import current_context as current_context
    from .core.limit import Limit as Limit
    from .core.model import Job as Job
    from .core.retry import Delays as Delays
    from .core.retry import Exponential as Exponential
    from .core.retry import Fixed as Fixed
    from .core.states import State as State
    from .core.step import Link as Link
    from .core.step import Step as Step
    from .errors import Fatal as Fatal
    from .errors import Retry as Retry
    from .errors import SignalTimeout as SignalTimeout
    from .errors import Snooze as Snooze
    from .errors import Veto as Veto
    from .errors import WindlassError as WindlassError
    from .handle import JobHandle as JobHandle
    from .middleware import Middleware as Middleware
    from .observe.events import Observer as Observer
    from .resources import Depends as Depends
    from .resources import Resource as Resource
    from .task import Task as Task
    from .workflows.dag import Dag as Dag
    from .workflows.flow import Flow as Flow
    from .workflows.flow import chain as chain
    from .workflows.flow import chord as chord
    from .workflows.flow import group as group
    from .workflows.graph import Node as Node

__version__ = "0.1.0"

_HOMES = {
    "AttemptRecord": "core.attempts",
    "Batch": "core.batch",
    "Connection": "connection",
    "Context": "core.context",
    "Dag": "workflows.dag",
    "Delays": "core.retry",
    "Depends": "resources",
    "Exponential": "core.retry",
    "Fatal": "errors",
    "Fixed": "core.retry",
    "Flow": "workflows.flow",
    "Job": "core.model",
    "JobHandle": "handle",
    "Limit": "core.limit",
    "Link": "core.step",
    "LogLine": "core.attempts",
    "Middleware": "middleware",
    "Node": "workflows.graph",
    "Observer": "observe.events",
    "Resource": "resources",
    "Retry": "errors",
    "ScheduleInfo": "admin.scheduling",
    "SignalTimeout": "errors",
    "Snooze": "errors",
    "State": "core.states",
    "Step": "core.step",
    "Task": "task",
    "Veto": "errors",
    "Windlass": "app",
    "WindlassError": "errors",
    "WorkflowHandle": "admin.workflow",
    "chain": "workflows.flow",
    "chord": "workflows.flow",
    "connect": "connection",
    "current_context": "core.context",
    "group": "workflows.flow",
}

__all__ = [
    "AttemptRecord",
    "Batch",
    "Connection",
    "Context",
    "Dag",
    "Delays",
    "Depends",
    "Exponential",
    "Fatal",
    "Fixed",
    "Flow",
    "Job",
    "JobHandle",
    "Limit",
    "Link",
    "LogLine",
    "Middleware",
    "Node",
    "Observer",
    "Resource",
    "Retry",
    "ScheduleInfo",
    "SignalTimeout",
    "Snooze",
    "State",
    "Step",
    "Task",
    "Veto",
    "Windlass",
    "WindlassError",
    "WorkflowHandle",
    "chain",
    "chord",
    "connect",
    "current_context",
    "group",
]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = globals()[name] = getattr(import_module(f".{_HOMES[name]}", __name__), name)
    return value
