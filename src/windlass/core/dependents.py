"""What the end of one job means for another that depends on it. Pure."""

from __future__ import annotations

from enum import Enum, auto
from typing import Final, Literal, Protocol, TypeVar, get_args

from ..errors import InvalidOption, UnknownJob, shown
from .model import Failure
from .states import FINISHED, LIVE, State

Orphaned = Literal["cancel", "run"]
"""What becomes of a job when one that it depends on is dead, cancelled or deleted."""

ORPHANED: Final = "Orphaned"


class Fate(Enum):
    """What the end of a parent means for one dependent."""

    WAITS = auto()
    """for other parents, still"""
    READY = auto()
    CANCELLED = auto()


def fate(*, completed: bool, runs_anyway: bool, open_parents: int) -> Fate:
    """The fate of a dependent whose parent has just ended, with so many others still open."""
    if not completed and not runs_anyway:
        return Fate.CANCELLED
    return Fate.WAITS if open_parents else Fate.READY


def orphaned(parent: str, how: str) -> Failure:
    """Why a dependent was cancelled; for its own dependents the root of it stays the reason."""
    return Failure(ORPHANED, f"job {parent}, which it depends on, is {how}")


class Parent(Protocol):
    """What is asked of a job that others depend on."""

    @property
    def id(self) -> str: ...

    @property
    def state(self) -> str: ...


P = TypeVar("P", bound=Parent)


def first_fate(parents: list[P], *, runs_anyway: bool) -> tuple[Fate, P | None]:
    """The fate of a new dependent, and the parent that has decided it if one has."""
    failed = [job for job in parents if job.state in FINISHED - {State.COMPLETED}]
    if failed and not runs_anyway:
        return Fate.CANCELLED, failed[0]
    return (Fate.WAITS if any(job.state in LIVE for job in parents) else Fate.READY), None


def unknown_parent(child: str, parent: str) -> UnknownJob:
    return UnknownJob(
        f"Job {child} cannot depend on {parent}: there is no such job, it was deleted, or it was "
        "not kept; nothing was enqueued."
    )


def checked_orphaned(value: str) -> Orphaned:
    if value not in get_args(Orphaned):
        raise InvalidOption(f"orphaned is cancel or run; got {shown(value)}.")
    return value  # type: ignore[return-value]
