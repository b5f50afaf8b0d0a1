"""A step: a job to be, whose id and parents are its workflow's to give."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Generic, TypeVar

from .model import NewJob

R_co = TypeVar("R_co", covariant=True)
X_contra = TypeVar("X_contra", contravariant=True)


class Part(Generic[R_co]):
    """What a workflow can be made of; `R` is what it comes to."""

    __slots__ = ()


class Step(Part[R_co]):
    """One job of a workflow; made by `task.step(…)`.

    `check` refuses so many arguments more, which come first and flow in from other steps. The
    same step can be part of many workflows, and more than once of one.
    """

    __slots__ = ("check", "convert", "job")

    def __init__(
        self,
        job: NewJob,
        convert: Callable[[Any, bool], R_co],
        check: Callable[[int], None],
    ) -> None:
        self.job = job
        self.convert = convert
        self.check = check

    def __repr__(self) -> str:
        return f"<Step {self.job.spec.task}>"


class Link(Step[R_co], Generic[X_contra, R_co]):
    """A step that is still to get its first argument, of the type `X`.

    For type checkers; nothing else tells it from any other step.
    """

    __slots__ = ()
