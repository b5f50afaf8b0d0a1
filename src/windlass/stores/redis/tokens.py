"""Claims whose answer was lost."""

from __future__ import annotations

from itertools import count
from secrets import token_hex


class Tokens:
    """A token for each claim; that of a claim that failed comes again.

    A claim with a token that was carried out before is answered once more: what it took comes
    back at once, and does not wait for its lease to end. Redis remembers the last few claims of
    a worker; of those that failed, the last one is asked for again.
    """

    def __init__(self) -> None:
        self._nonce = token_hex(4)
        self._serial = count()
        self._lost: dict[str, str] = {}

    def take(self, worker: str) -> str:
        if self._lost and worker in self._lost:
            return self._lost.pop(worker)
        return f"{self._nonce}.{next(self._serial)}"

    def lose(self, worker: str, token: str) -> None:
        self._lost[worker] = token
