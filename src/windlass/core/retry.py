"""When to try again: backoff policies, and which errors deserve another attempt.

`backoff.delay(n)` is the wait before retry number n, counted from 1, without jitter;
jitter only ever shortens a wait, so a cap is a cap.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from ..errors import Fatal, InvalidOption, Retry, seconds

Uniform = Callable[[], float]
"""A random number in [0, 1); injected so that a decision can be repeated in a test."""


class Backoff(Protocol):
    """The wait in seconds before retry `n` (1, 2, …) after `error`."""

    def delay(self, n: int, error: BaseException | None = None) -> float: ...


@dataclass(frozen=True, slots=True)
class Exponential:
    """`base × factor^(n-1)`, at most `cap`."""

    base: float = 2.0
    factor: float = 2.0
    cap: float = 600.0

    def __post_init__(self) -> None:
        seconds(self.base, "The base of a backoff")
        seconds(self.cap, "The cap of a backoff")
        if not 1 <= self.factor < float("inf"):
            raise InvalidOption("The factor of a backoff must be 1 or more.")

    def delay(self, n: int, error: BaseException | None = None) -> float:
        """The seconds before retry `n`, which counts from 1."""
        try:
            return min(self.base * self.factor ** (n - 1), self.cap)
        except OverflowError:
            return self.cap if self.base else 0.0


@dataclass(frozen=True, slots=True)
class Fixed:
    """The same wait before each retry."""

    wait: float

    def __post_init__(self) -> None:
        seconds(self.wait, "A fixed backoff")

    def delay(self, n: int, error: BaseException | None = None) -> float:
        """The same seconds before each retry."""
        return self.wait


@dataclass(frozen=True, slots=True)
class Delays:
    """A table of waits; the last one repeats when retries outnumber it."""

    waits: Sequence[float]

    def __post_init__(self) -> None:
        if not self.waits:
            raise InvalidOption("A list of delays needs at least one entry.")
        for wait in self.waits:
            seconds(wait, "A delay in a list of delays")

    def delay(self, n: int, error: BaseException | None = None) -> float:
        """The seconds before retry `n`; the last of them for all beyond."""
        return self.waits[min(n, len(self.waits)) - 1]


@dataclass(frozen=True, slots=True)
class Computed:
    """A wait from the user's own function of (retry number, error)."""

    function: Callable[[int, BaseException | None], float]

    def delay(self, n: int, error: BaseException | None = None) -> float:
        return seconds(self.function(n, error), "The delay from a backoff function")


BackoffLike = Backoff | float | Sequence[float] | Callable[[int, BaseException | None], float]
"""What `backoff=` takes: a policy, a number of seconds, a list of them, or a function."""


def as_backoff(value: BackoffLike) -> Backoff:
    """The policy that a user's shorthand stands for."""
    match value:
        case int() | float():
            return Fixed(float(value))
        case list() | tuple():
            return Delays(tuple(seconds(wait, "A delay in a list of delays") for wait in value))
        case _ if hasattr(value, "delay") and not isinstance(value, type):
            return value
        case _ if callable(value) and not isinstance(value, type):
            return Computed(value)
    raise InvalidOption(
        "backoff takes a policy, a number of seconds, a list of them, or a function; "
        f"got {type(value).__name__}."
    )


ErrorTypes = tuple[type[BaseException], ...]


@dataclass(frozen=True, slots=True)
class RetryPolicy:
    """How one task answers its errors. `fatal_on` wins over `retry_on`.

    A handler that raises `Retry` has decided by itself, whatever `retry_on` names.
    """

    backoff: Backoff = field(default_factory=Exponential)
    jitter: float = 0.5
    retry_on: ErrorTypes = (BaseException,)
    """also what is no `Exception`: a `sys.exit()` in a handler, or a stray `CancelledError`"""
    fatal_on: ErrorTypes = ()

    def __post_init__(self) -> None:
        if not 0 <= self.jitter <= 1:
            raise InvalidOption("jitter must be between 0 (none) and 1 (full).")

    def is_fatal(self, error: BaseException) -> bool:
        if isinstance(error, (Fatal, *self.fatal_on)):
            return True
        return not isinstance(error, (Retry, *self.retry_on))

    def wait(
        self, n: int, error: BaseException | None = None, uniform: Uniform = random.random
    ) -> float:
        """The jittered wait in seconds before retry `n`."""
        # A policy of the user's own may give anything.
        wait = seconds(self.backoff.delay(n, error), "The wait that a backoff gives")
        return wait * (1 - self.jitter * uniform())


DEFAULT_RETRY = RetryPolicy()
