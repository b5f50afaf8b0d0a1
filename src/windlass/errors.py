"""Every error that Windlass raises, in one tree.

    WindlassError
    ├── UsageError                the caller's fault; nothing was written
    │   ├── InvalidOption         a value outside what the option allows
    │   ├── InvalidArguments      arguments that do not fit the task's signature
    │   ├── PayloadTooLarge
    │   ├── UnencodableValue
    │   ├── UnknownScheme         no store serves this URL
    │   ├── DuplicateJob          asked for by on_conflict="raise"
    │   ├── UnknownTask
    │   ├── UnknownJob
    │   ├── UnknownSchedule
    │   ├── WrongState            the job's state does not allow the request
    │   ├── MoveRefused           another move has the store
    │   ├── ConfigError
    │   ├── Veto                  a middleware refused the job
    │   ├── Unauthenticated       a server was given no key, or one that does not count
    │   ├── Forbidden             the key does not allow the request
    │   ├── Throttled             too many requests of this key
    │   ├── WouldBlock            a blocking call inside a running event loop
    │   └── NoEventLoop           an async call where no event loop runs
    ├── MissingExtra              an optional dependency is not installed
    ├── StartupFailed             a hook or a resource of the worker failed
    ├── CorruptRecord             stored bytes that cannot be read back
    ├── LeaseLost                 the job is no longer this worker's to complete
    ├── SignalTimeout             what a handler waited for did not come in time
    ├── StoreError
    │   ├── StoreUnavailable      try again: the engine did not answer
    │   └── SchemaMismatch        the stored schema is not the one this code knows
    ├── ResultError               what waiting for a result can come to
    │   ├── JobFailed
    │   ├── JobCancelled
    │   ├── ResultTimeout
    │   └── WrongTask             the id is that of a job of another task
    └── Directive                 raised by handlers to choose their own outcome
        ├── Retry
        ├── Fatal
        └── Snooze

An error's text is one sentence that says what was wrong and what to do.

Outside of the tree stand `AttemptStopped` and `AttemptParked`, which are not errors: see there.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any, Final

LONGEST_SECONDS: Final = 100 * 366 * 24 * 60 * 60
"""A hundred years: the longest wait that every store can hold as a moment."""

LONGEST_SHOWN: Final = 200
"""So many letters of a wrong value are in an error."""

LATEST_YEAR: Final = 9998
"""The last year of which every moment is a `datetime` in every time zone."""


class WindlassError(Exception):
    """The root: `except WindlassError` catches all that Windlass raises itself."""


class UsageError(WindlassError):
    """The request cannot be carried out as given."""


class InvalidOption(UsageError, ValueError):
    """An option has a value it cannot have."""


class InvalidArguments(UsageError, TypeError):
    """The arguments do not fit the task's signature."""


class PayloadTooLarge(UsageError, ValueError):
    """The encoded arguments or result are larger than the limit."""


class UnencodableValue(UsageError, TypeError):
    """An argument or a result has a type that the codec cannot encode."""


class UnknownScheme(UsageError, ValueError):
    """No store serves this URL."""


class DuplicateJob(UsageError):
    """The job was there before, or another one holds its unique key: see `on_conflict="raise"`.

    `handle` is that of the job that was there, `id` its id; `handles` are those of all jobs of
    `enqueue_many`, of which the new ones are stored.
    """

    def __init__(self, message: str, *, id: str = "", handles: Sequence[Any] = ()) -> None:
        super().__init__(message)
        self.id = id
        self.handles = handles

    @property
    def handle(self) -> Any:
        """The handle of the job that was there before."""
        return next(each for each in self.handles if each.id == self.id)


class UnknownTask(UsageError, LookupError):
    """No task of this name is registered."""


class UnknownJob(UsageError, LookupError):
    """The store has no job of this id."""


class UnknownSchedule(UsageError, LookupError):
    """The store has no schedule of this name."""


class WrongState(UsageError):
    """The job is in a state that does not allow the request."""


class MoveRefused(UsageError):
    """Another move is under way on the same store, or this one has lost its turn to it."""


class ConfigError(UsageError, ValueError):
    """A setting is unknown or has a value it cannot have."""


class Veto(UsageError):
    """Raised by a middleware to refuse a job; the caller gets it, and nothing is stored."""

    def __init__(self, reason: str = "") -> None:
        super().__init__(reason)
        self.reason = reason or "it gave no reason"

    def __str__(self) -> str:
        return f"A middleware refused the job: {self.reason}"


class Unauthenticated(UsageError):
    """A server was given no API key, or one that is wrong, revoked or expired."""


class Forbidden(UsageError):
    """The API key does not allow the request."""


class Throttled(UsageError):
    """Too many requests of one API key; `after` is when the next may come, in seconds."""

    def __init__(self, message: str, *, after: float = 1.0) -> None:
        super().__init__(message)
        self.after = after


class WouldBlock(UsageError, RuntimeError):
    """A blocking call was made inside a running event loop."""


class NoEventLoop(UsageError, RuntimeError):
    """An async call was made where no event loop is running."""


class MissingExtra(WindlassError, ImportError):
    """An optional dependency is needed for this and is not installed."""


class StartupFailed(WindlassError):
    """The worker did not start: a start-up hook failed, or a resource could not be opened."""


class CorruptRecord(WindlassError, ValueError):
    """Stored bytes cannot be read back: damaged, too new, or of an unknown codec."""


class LeaseLost(WindlassError):
    """The job was cancelled, or another worker has it: a handler's transaction is rolled back."""


class SignalTimeout(WindlassError, TimeoutError):
    """The signal that a handler waited for did not come in time."""


class StoreError(WindlassError):
    """The engine behind the store reported a fault."""


class StoreUnavailable(StoreError):
    """The engine did not answer; the same call may succeed later.

    Of a `finish` that went to several servers, `settled` has the claims (id and fence) that are
    done with, since theirs did answer, and `held` the ids of those whose lease still held. It is
    `busy` if all have answered, and only transactions of others are in the way of the rest.
    """

    def __init__(
        self,
        *args: object,
        settled: frozenset[tuple[str, int]] = frozenset(),
        held: frozenset[str] = frozenset(),
        busy: bool = False,
    ) -> None:
        super().__init__(*args)
        self.settled = settled
        self.held = held
        self.busy = busy


class SchemaMismatch(StoreError):
    """The stored schema is newer than this code, or was changed by hand."""


class ResultError(WindlassError):
    """A job has no result to give."""


class JobFailed(ResultError):
    """The job is dead; `kind` and `traceback` are those of its last error."""

    def __init__(self, message: str, *, kind: str = "", traceback: str = "") -> None:
        super().__init__(message)
        self.kind = kind
        self.traceback = traceback


class JobCancelled(ResultError):
    """The job was cancelled before it completed."""


class ResultTimeout(ResultError, TimeoutError):
    """The job was not finished within the given time; nothing about it has changed.

    `why` says why it does not run, or that it does; it is empty if that is not known.
    """

    def __init__(self, message: str, *, why: str = "") -> None:
        super().__init__(message)
        self.why = why


class WrongTask(ResultError):
    """The job of this id is one of another task, so that its result is another's too."""


class Directive(WindlassError):
    """Raised by a handler to choose its own outcome; not a fault by itself."""


class Retry(Directive):
    """Try again, after `after` seconds or as the task's policy says; uses one retry."""

    after: float | None = None

    def __init__(self, reason: str = "", *, after: float | timedelta | None = None) -> None:
        super().__init__(reason or "the handler asked for a retry")
        self.after = seconds(after, "Retry(after=…)") if after is not None else None


class Fatal(Directive):
    """Give up now: the job goes to dead whatever retries it has left."""

    def __init__(self, reason: str = "") -> None:
        super().__init__(reason or "the handler gave up")


class Snooze(Directive):
    """Run again later without using an attempt: `Snooze(60)` or `Snooze(until=moment)`."""

    delay: float | None = None
    until: datetime | None = None

    def __init__(
        self,
        delay: float | timedelta | None = None,
        *,
        until: datetime | None = None,
        reason: str = "",
    ) -> None:
        super().__init__(reason or "the handler snoozed")
        self.delay, self.until = checked_snooze(delay, until)


def checked_snooze(
    delay: float | timedelta | None, until: datetime | None
) -> tuple[float | None, datetime | None]:
    """The wait of a `Snooze`: either so many seconds, or until a moment."""
    if (delay is None) == (until is None):
        raise InvalidOption("Snooze takes either a delay or until=…, exactly one of them.")
    if until is None:
        assert delay is not None
        return seconds(delay, "Snooze(…)"), None
    if not isinstance(until, datetime):
        raise InvalidOption(f"Snooze(until=…) is a datetime with a time zone; got {shown(until)}.")
    if until.tzinfo is None:
        raise InvalidOption("Snooze(until=…) needs a datetime with a time zone.")
    if until.year > LATEST_YEAR:
        raise InvalidOption(f"Snooze(until=…) is at most the end of the year {LATEST_YEAR}.")
    return None, until


class AttemptStopped(BaseException):
    """Raised into the thread of a blocking handler whose time is up or whose job is called off.

    As `asyncio.CancelledError` is for async handlers: no `Exception`, so that a handler that
    catches all of these ends all the same. Catch it to clean up, then raise it again; it is raised
    once, and not within a call of the library.
    """


class AttemptParked(BaseException):
    """Raised where a handler waits for a signal: the job is put aside until it comes.

    No `Exception`, so that a handler that catches all of these ends all the same. What is in a
    `finally` runs; let it pass.
    """

    def __init__(self, awaits: str, delay: int | None = None) -> None:
        super().__init__(f"the job waits for the signal {awaits!r}")
        self.awaits = awaits
        self.delay = delay
        """milliseconds, after which it goes on in any case"""

    def __reduce__(self) -> tuple[type[AttemptParked], tuple[str, int | None]]:
        return type(self), (self.awaits, self.delay)


def seconds(value: float | timedelta, what: str) -> float:
    """A duration in seconds; `what` names it in the error for one that cannot be."""
    try:
        if isinstance(value, str | bytes | bool):
            raise TypeError
        number = value.total_seconds() if isinstance(value, timedelta) else float(value)
    except (TypeError, ValueError):
        raise InvalidOption(
            f"{what} is a number of seconds or a timedelta; got {shown(value)}."
        ) from None
    except OverflowError:
        raise InvalidOption(f"{what} is at most 100 years.") from None
    if not 0 <= number < float("inf"):
        raise InvalidOption(
            f"{what} must be a finite number of seconds, 0 or more; got {number:g}."
        )
    if number > LONGEST_SECONDS:
        raise InvalidOption(f"{what} is at most 100 years.")
    return number


def shown(value: object) -> str:
    """A value as an error tells it: of bounded length, and whatever it is."""
    try:
        text = repr(value)
    except Exception:  # a number of too many digits, or a class of the caller whose own repr fails
        return f"a value of type {type(value).__name__}"
    return text if len(text) <= LONGEST_SHOWN else f"{text[:LONGEST_SHOWN]}…"
