"""What a handler sees of the transaction that completes its job."""

from __future__ import annotations

from contextvars import ContextVar
from types import TracebackType
from typing import Any, Final, Protocol


class Transaction(Protocol):
    """`with` or `async with` it: the block's writes and the job's completion are one commit.

    Entered, it gives a connection of the engine's own driver. If the block raises, nothing is
    written and the job is not completed.
    """

    result: Any
    """what the job comes to: set it within the block, for what the handler returns is too late"""

    def __enter__(self) -> Any: ...

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
        /,
    ) -> None: ...

    async def __aenter__(self) -> Any: ...

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
        /,
    ) -> None: ...


class Hold:
    """A transaction that has a file to itself: whoever else writes to it waits for its end."""

    __slots__ = ("is_over", "path")

    def __init__(self, path: str) -> None:
        self.path = path
        self.is_over = False


hold: Final[ContextVar[Hold | None]] = ContextVar("windlass_hold", default=None)
"""That of the handler which is running, if it has one."""


def held_path() -> str | None:
    """The file that the running handler has to itself, if there is one."""
    mine = hold.get()
    return None if mine is None or mine.is_over else mine.path
