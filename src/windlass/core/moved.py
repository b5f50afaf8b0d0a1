"""What can be taken from one store to another. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from ..errors import InvalidOption
from .model import Job
from .states import State


def refuse_active(jobs: Sequence[Job]) -> None:
    """What every store asks of jobs before it restores them."""
    active = [job.id for job in jobs if job.state is State.ACTIVE]
    if active:
        raise InvalidOption(
            f"Job {active[0]} is active: a worker of its own store has it. "
            "Wait until it has ended, then restore it."
        )
