"""Claims whose answer was lost."""

from __future__ import annotations

from itertools import count
from secrets import token_hex
from typing import Final

REMEMBERED: Final = 3
"""So many claims of a worker Redis remembers (see `lua/claim.lua`)."""


class Tokens:
    """A token for each claim; those of claims that failed are sent again, before any other.

    Redis answers a claim with a token that it carried out before once more: what it took comes back
    at once, and does not wait for its lease to end.
    """

    def __init__(self) -> None:
        self._nonce = token_hex(4)
        self._serial = count()
        self._lost: dict[str, list[str]] = {}

    def make(self) -> str:
        return f"{self._nonce}.{next(self._serial)}"

    @property
    def some_are_lost(self) -> bool:
        return bool(self._lost)

    def take_lost(self, worker: str) -> str | None:
        """The token of a claim of this worker that failed, to be sent again, if there is one."""
        lost = self._lost.get(worker)
        if lost is None:
            return None
        token = lost.pop(0)
        if not lost:
            del self._lost[worker]
        return token

    def lose(self, worker: str, token: str) -> None:
        self._lost[worker] = [*self._lost.get(worker, ()), token][-REMEMBERED:]
