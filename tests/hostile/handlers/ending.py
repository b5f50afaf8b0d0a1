"""Handlers that end as nobody expects: by what they raise or return, or with their process."""

import asyncio
import ctypes
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any, NoReturn

from tests.hostile.handlers.case import DEAD, DONE, FAILS, PARKED, Table
from windlass import Fatal, Retry, Snooze
from windlass.core.batch import Batch
from windlass.errors import AttemptParked, AttemptStopped, LeaseLost, StoreUnavailable

FOREVER = 1e17
"""Seconds; more than any store can hold as a moment."""

RAISES = Table("raises")
RETURNS = Table("returns")
ENDS = Table("ends its child process")
KILLS = Table("ends its worker, or all that it does")
TABLES = (RAISES, RETURNS, ENDS, KILLS)


@RAISES.row("`Retry(after=1e17)`", FAILS, "InvalidOption", "Retry(after=…) is at most 100 years.")
def retry_in_an_age() -> NoReturn:
    raise Retry(after=FOREVER)


@RAISES.row("`Snooze(1e17)`", FAILS, "InvalidOption", "Snooze(…) is at most 100 years.")
def snooze_for_an_age() -> NoReturn:
    raise Snooze(FOREVER)


@RAISES.row(
    "`Snooze(until=datetime.max)`",
    FAILS,
    "InvalidOption",
    "Snooze(until=…) is at most the end of the year 9998.",
)
def snooze_until_the_last_day() -> NoReturn:
    raise Snooze(until=datetime.max.replace(tzinfo=UTC))


@RAISES.row("`Snooze(nan)`", FAILS, "InvalidOption", "Snooze(…) must be a finite number")
def snooze_for_no_number() -> NoReturn:
    raise Snooze(float("nan"))


@RAISES.row(
    '`Snooze(until="tomorrow")`', FAILS, "InvalidOption", "a datetime with a time zone; got 'tom"
)
def snooze_until_a_word() -> NoReturn:
    raise Snooze(until="tomorrow")  # type: ignore[arg-type]


class OwnRetry(Retry):
    def __init__(self, code: int) -> None:
        self.code = code


class OwnSnooze(Snooze):
    def __init__(self, code: int) -> None:
        self.code = code


@RAISES.row("a `Retry` of its own that leaves out `super().__init__`", FAILS, "OwnRetry", "503")
def retry_of_its_own() -> NoReturn:
    raise OwnRetry(503)


@RAISES.row(
    "a `Snooze` of its own that leaves out `super().__init__`",
    FAILS,
    "InvalidOption",
    "either a delay or until=…",
)
def snooze_of_its_own() -> NoReturn:
    raise OwnSnooze(503)


@RAISES.row(
    "a `Retry` whose `after` it has set to `nan`", FAILS, "InvalidOption", "must be a finite number"
)
def retry_that_was_changed() -> NoReturn:
    error = Retry()
    error.after = float("nan")
    raise error


@RAISES.row(
    "a `Snooze` whose `delay` it has set to 1e17", FAILS, "InvalidOption", "is at most 100 years"
)
def snooze_that_was_changed() -> NoReturn:
    error = Snooze(1)
    error.delay = FOREVER
    raise error


@RAISES.row("`Fatal`", DEAD, "Fatal", "no such picture")
def give_up() -> NoReturn:
    raise Fatal("no such picture")


def backoff(value: Any) -> Callable[[int, BaseException], Any]:
    def policy(n: int, error: BaseException) -> Any:
        if isinstance(value, BaseException):
            raise value
        return value

    return policy


BACKOFFS: dict[str, Any] = {
    "gives `nan`": float("nan"),
    "gives `inf`": float("inf"),
    "gives -1": -1,
    "gives 1e17": FOREVER,
    "gives 10**400": 10**400,
    'gives `Decimal("1e400")`': Decimal("1e400"),
    "gives a text": "soon",
    "gives `None`": None,
    "raises an exception": ValueError("no idea"),
    "raises `SystemExit`": SystemExit(3),
}
"""What the policy of a task does; the default takes its place."""


def fail() -> NoReturn:
    raise ValueError("oops")


for words, value in BACKOFFS.items():
    named = f"an exception, and its `backoff` {words}: the default takes its place"
    RAISES.row(named, FAILS, "ValueError", "oops", backoff=backoff(value))(fail)


@RAISES.row("`SystemExit`, by `sys.exit()`", FAILS, "SystemExit")
def exit_well() -> NoReturn:
    sys.exit()


@RAISES.row("`SystemExit(3)`", FAILS, "SystemExit", "3")
def exit_badly() -> NoReturn:
    sys.exit(3)


@RAISES.row("`KeyboardInterrupt`", FAILS, "KeyboardInterrupt")
def interrupt() -> NoReturn:
    raise KeyboardInterrupt


@RAISES.row("`CancelledError`, and nobody has cancelled it", FAILS, "CancelledError")
def stray_cancellation() -> NoReturn:
    raise asyncio.CancelledError


@RAISES.row("`AttemptStopped`, and nobody has stopped it", FAILS, "AttemptStopped")
def stray_stop() -> NoReturn:
    raise AttemptStopped


@RAISES.row(
    "`AttemptParked` by itself, for a name that is no UTF-8", FAILS, "InvalidOption", "printable"
)
def stray_wait() -> NoReturn:
    raise AttemptParked("caf\udce9")


@RAISES.row("`AttemptParked` by itself", PARKED)
def wait_for_ever() -> NoReturn:
    raise AttemptParked("approval")


@RAISES.row("`LeaseLost` by itself", FAILS, "LeaseLost", "says who?")
def lost_lease() -> NoReturn:
    raise LeaseLost("says who?")


@RAISES.row("`StoreUnavailable` by itself", FAILS, "StoreUnavailable", "my own store")
def away() -> NoReturn:
    raise StoreUnavailable("my own store")


class Base(BaseException):
    """No Exception."""


@RAISES.row("a `BaseException` of its own", FAILS, "Base", "deep")
def base() -> NoReturn:
    raise Base("deep")


@RAISES.row("`GeneratorExit`", FAILS, "GeneratorExit", on="a")
@RAISES.row("`GeneratorExit`", FAILS, "RuntimeError", "GeneratorExit", on="tp")
def generator_exit() -> NoReturn:
    raise GeneratorExit


@RAISES.row("`StopIteration`", FAILS, "RuntimeError", "StopIteration")
def stop_iteration() -> NoReturn:
    raise StopIteration


@RAISES.row("`ExceptionGroup`", FAILS, "ExceptionGroup", "several (2 sub-exceptions)")
def group() -> NoReturn:
    raise ExceptionGroup("several", [ValueError(1), ExceptionGroup("more", [KeyError(2)])])


@RAISES.row("`MemoryError`", FAILS, "MemoryError")
def memory() -> None:
    bytearray(1 << 60)


@RAISES.row("`RecursionError`, since it calls itself without end", FAILS, "RecursionError")
def recursion() -> None:
    recursion()


@RAISES.row("an exception with 10,000 causes", FAILS, "ValueError", "number 9999")
def chained() -> NoReturn:
    error: Exception | None = None
    for number in range(10_000):
        following = ValueError(f"number {number}")
        following.__cause__ = error
        error = following
    assert error is not None
    raise error


@RAISES.row("an exception that is its own cause", FAILS, "ValueError", "why?")
def circular() -> NoReturn:
    error = ValueError("why?")
    error.__cause__ = error.__context__ = error
    raise error


class Unprintable(Exception):
    def __str__(self) -> str:
        raise ValueError


class Exiting(Exception):
    def __str__(self) -> str:
        sys.exit(9)

    __repr__ = __str__


@RAISES.row("an exception whose `__str__` raises", FAILS, "Unprintable", "its text cannot be shown")
def unprintable() -> NoReturn:
    raise Unprintable


@RAISES.row("an exception whose `__str__` calls `sys.exit()`", FAILS, "Exiting", "cannot be shown")
def exiting() -> NoReturn:
    raise Exiting


class Locked(Exception):
    def __init__(self) -> None:
        super().__init__("locked")
        self.lock = threading.Lock()


class Lying(Exception):
    """Cannot be made again from its args, as pickle tries to."""

    def __init__(self, code: int, *, host: str) -> None:
        super().__init__()
        self.args = (host, code, "lies")

    def __str__(self) -> str:
        return "lies"


class Bombed(Exception):
    def __reduce__(self) -> NoReturn:
        sys.exit(4)


@RAISES.row("an exception that cannot be pickled", FAILS, "Locked", "locked")
def locked() -> NoReturn:
    raise Locked


@RAISES.row("an exception whose `args` are wrong", FAILS, "Lying", "lies")
def lying() -> NoReturn:
    raise Lying(1, host="db")


@RAISES.row("an exception whose `__reduce__` calls `sys.exit()`", FAILS, "Bombed", "boom")
def bombed() -> NoReturn:
    raise Bombed("boom")


@RAISES.row("an exception with a text of 10 MB", FAILS, "ValueError", "aaaa")
def long_text() -> NoReturn:
    raise ValueError("a" * 10_000_000)


@RAISES.row("an exception whose text is no UTF-8 and has NUL", FAILS, "ValueError", r"caf\udce9 \0")
def odd_text() -> NoReturn:
    raise ValueError("caf\udce9 \0")


@RAISES.row("an exception whose `__notes__` are no list", FAILS, "ValueError", "noted")
def odd_notes() -> NoReturn:
    error = ValueError("noted")
    error.__notes__ = 5  # type: ignore[assignment]
    raise error


@RAISES.row(
    "`SystemExit`, and takes batches", FAILS, "SystemExit", "5", on="atp", batch=Batch(size=1)
)
def exit_batch(items: list[int]) -> NoReturn:
    sys.exit(5)


@RETURNS.row("an object", FAILS, "UnencodableValue", "a value of type `object`", on="atp")
def an_object() -> object:
    return object()


@RETURNS.row("more than `max_payload`", DEAD, "PayloadTooLarge", "take 2,000,007 bytes")
def too_much() -> bytes:
    return b"x" * 2_000_000


@RETURNS.row("a list that contains itself", FAILS, "UnencodableValue", "contains itself")
def cyclic() -> list[Any]:
    value: list[Any] = []
    value.append(value)
    return value


@RETURNS.row("a list nested 10,000 levels deep", FAILS, "UnencodableValue", "too deeply", on="at")
@RETURNS.row("a list nested 10,000 levels deep", FAILS, "UnencodableValue", "recursion", on="p")
def deep() -> list[Any]:
    value: list[Any] = []
    for _ in range(10_000):
        value = [value]
    return value


@RETURNS.row("a text that is no UTF-8", FAILS, "UnencodableValue", "lone surrogate")
def surrogate() -> str:
    return "caf\udce9"


@RETURNS.row("a number of 5,000 digits", DONE)
def huge() -> int:
    return 10**5_000


@RETURNS.row("a generator", FAILS, "UnencodableValue", "generator")
def a_generator() -> Iterator[int]:
    return (number for number in range(3))


@RETURNS.row("itself", FAILS, "UnencodableValue", "function", on="at")
def itself() -> Any:
    return itself


@RETURNS.row("an `asyncio.Future` that nobody will finish", FAILS, "UnencodableValue", "Future")
async def a_future() -> Any:
    return asyncio.get_running_loop().create_future()


class Refusing:
    def __reduce__(self) -> NoReturn:
        raise ValueError("not me")

    def __repr__(self) -> NoReturn:
        raise ValueError("nor this")


class Leaving:
    def __reduce__(self) -> NoReturn:
        sys.exit(4)


@RETURNS.row("an object whose `__reduce__` raises", FAILS, "UnencodableValue", "Refusing", on="at")
@RETURNS.row("an object whose `__reduce__` raises", FAILS, "UnencodableValue", "not me", on="p")
def refusing() -> Refusing:
    return Refusing()


@RETURNS.row("an object whose `__reduce__` exits", FAILS, "UnencodableValue", "Leaving", on="at")
@RETURNS.row("an object whose `__reduce__` exits", FAILS, "SystemExit", "4", on="p")
def leaving() -> Leaving:
    return Leaving()


@RETURNS.row(
    "too few results for a batch", DEAD, "Fatal", "2 results for a batch of 1", batch=Batch(size=1)
)
def miscounted(items: list[int]) -> list[int]:
    return [1, 2]


LOST = (DEAD, "LeaseExpired", "it crashed, froze or was cut off")
AT_ONCE: dict[str, Any] = {"backoff": 0}


@ENDS.row("calls `os._exit(0)`", FAILS, "ProcessDied", "ended with exit code 0", on="p")
@KILLS.row("calls `os._exit(0)`", *LOST, on="at", **AT_ONCE)
def leave_at_once() -> None:
    os._exit(0)


@ENDS.row("crashes in C code", FAILS, "ProcessDied", "was killed by SIGSEGV", on="p")
@KILLS.row("crashes in C code", *LOST, on="at", **AT_ONCE)
def segfault() -> None:
    ctypes.string_at(0)


@ENDS.row("is killed, as where memory is short", FAILS, "ProcessDied", "SIGKILL", on="p")
@KILLS.row("is killed, as where memory is short", *LOST, on="at", **AT_ONCE)
def killed() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


@ENDS.row("closes all file descriptors", FAILS, "ProcessDied", "", on="p")
def close_all() -> None:
    os.closerange(0, 256)


@KILLS.row("cancels all tasks of the event loop", *LOST, max_retries=0)
async def cancel_all() -> None:
    for task in asyncio.all_tasks():
        task.cancel()
    await asyncio.sleep(3600)
