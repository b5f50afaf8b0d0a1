"""Connections that a store lends to handlers, for writes that go with a job's completion."""

from __future__ import annotations

from contextlib import AbstractAsyncContextManager, AbstractContextManager
from typing import Any, Protocol


class Loans(Protocol):
    """Lends connections of the engine's own drivers, each in a transaction.

    It is committed at the end of the block and rolled back if the block raises. A loan is the
    borrower's alone: what the store itself does goes on over other connections.
    """

    def lend(self) -> AbstractContextManager[Any]:
        """For a thread that may block; from whichever thread."""

    def alend(self) -> AbstractAsyncContextManager[Any]:
        """For the event loop that the store is of."""

    async def close(self) -> None:
        """Let go of what is kept for the next loan; one that is still out is not waited for."""
