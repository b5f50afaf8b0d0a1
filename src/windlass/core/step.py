"""A step: a job to be, whose id and parents are its workflow's to give."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, Generic, NamedTuple, TypeVar

from ..errors import InvalidOption, shown
from .model import NewJob

R_co = TypeVar("R_co", covariant=True)
X_contra = TypeVar("X_contra", contravariant=True)

COMPUTED_LATER: Final = "windlass-keys"
"""The header of a step that says what a worker is to compute once it knows what flows in."""


class Part(Generic[R_co]):
    """What a workflow can be made of; `R` is what it comes to."""

    __slots__ = ()


class StepKeys(NamedTuple):
    """What is computed of the arguments of a step: limit, sequence, group, batch."""

    compute: Callable[[], NewJob]
    """the job with all of it, where nothing flows in"""
    later: Callable[[], NewJob]
    """the job that says by its header `COMPUTED_LATER` what is still to be computed"""


class Step(Part[R_co]):
    """One job of a workflow; made by `task.step(…)`.

    `check` refuses so many arguments more, which come first and flow in from other steps. The
    same step can be part of many workflows, and more than once of one.
    """

    __slots__ = ("_keys", "check", "convert", "job")

    def __init__(
        self,
        job: NewJob,
        convert: Callable[[Any, bool], R_co],
        check: Callable[[int], None],
        keys: StepKeys | None = None,
    ) -> None:
        self.job = job
        """the job, but for what is computed of its arguments"""
        self._keys = keys
        self.convert = convert
        self.check = check

    def __repr__(self) -> str:
        return f"<Step {self.job.spec.task}>"

    def taking(self, inputs: int) -> NewJob:
        """The job of this step in a place where so many results flow in."""
        if self._keys is None:
            return self.job
        return self._keys.later() if inputs else self._keys.compute()


class Link(Step[R_co], Generic[X_contra, R_co]):
    """A step that is still to get its first argument, of the type `X`.

    For type checkers; nothing else tells it from any other step.
    """

    __slots__ = ()


def checked_step(value: Any, what: str) -> Step[Any]:
    """A step, as a caller gives it for this purpose; anything else is `InvalidOption`."""
    if not isinstance(value, Step):
        raise InvalidOption(f"{what} is a step, as in add.step(1, 2); got {shown(value)}.")
    return value
