"""What a handler sees of the transaction that completes its job."""

from __future__ import annotations

from types import TracebackType
from typing import Any, Protocol


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
