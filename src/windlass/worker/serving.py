"""Which queues a worker serves, if nobody says it, and what its own tasks miss by that."""

from __future__ import annotations

from collections.abc import Sequence

from ..config import WorkerSettings
from ..core.model import DEFAULT_QUEUE
from ..core.rotation import EVERY, parse_queues
from ..task import Registry


def named_queues(registry: Registry) -> dict[str, str]:
    """The queues that tasks and schedules name, each with the first of those who name it."""
    found: dict[str, str] = {}
    for task, queue in registry.queues.items():
        found.setdefault(queue, f"task {task}")
    for schedule in registry.schedules.values():
        found.setdefault(schedule.queue, f"schedule {schedule.name}")
    return found


def served_queues(registry: Registry, settings: WorkerSettings) -> Sequence[str]:
    """What the settings say, or else `default` and all that tasks and schedules name."""
    if settings.queues:
        return settings.queues
    names = dict.fromkeys((*named_queues(registry), DEFAULT_QUEUE))
    # What follows the last colon would be taken for a weight.
    return tuple(f"{name}:1" if ":" in name else name for name in names)


def left_out(registry: Registry, served: Sequence[str]) -> str:
    """A sentence on queues that tasks name and their worker does not serve; empty without any."""
    names = {each.name for each in parse_queues(served)}
    others = {queue: who for queue, who in named_queues(registry).items() if queue not in names}
    if EVERY in names or not others:
        return ""
    each = ", ".join(f"{queue} ({who})" for queue, who in others.items())
    return (
        f"This worker does not serve queues that its own tasks name: {each}. Their jobs wait for "
        "another worker. Name these queues too, or none: then all of them are served."
    )
