"""A store that writes down what its process finishes, and has traps between its calls."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from time import monotonic
from typing import Any, cast

from ...core.model import Transition
from ...errors import StoreUnavailable
from ...stores.contract import Store
from ...stores.observed import CALLS
from .record import Finished, Finishing, Notebook
from .trap import Trap


class Recorder:
    """Stands for a store in one process; what is not of the contract is the store's own."""

    def __init__(self, store: Store, book: Notebook, node: str, trap: Trap) -> None:
        self._store = store
        self._book = book
        self._node = node
        for name in (*CALLS, "wait"):
            setattr(self, name, _trapped(getattr(store, name), name, trap))
        self._write = self.finish
        self.finish = self._finish

    finish: Callable[[Sequence[Transition]], Awaitable[frozenset[str]]]

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)

    async def _finish(self, moves: Sequence[Transition]) -> frozenset[str]:
        at = monotonic()
        self._book.write(
            *(Finishing(at, move.id, move.fence, move.state, self._node) for move in moves)
        )
        try:
            held = await self._write(moves)
        except StoreUnavailable as error:
            done = [move for move in moves if (move.id, move.fence) in error.settled]
            self._note(done, error.held)
            raise
        self._note(moves, held)
        return held

    def _note(self, moves: Sequence[Transition], held: frozenset[str]) -> None:
        at = monotonic()
        self._book.write(
            *(
                Finished(at, move.id, move.fence, move.state, self._node, move.id in held)
                for move in moves
            )
        )


def recorded(store: Store, book: Notebook, node: str, trap: Trap) -> Store:
    return cast(Store, Recorder(store, book, node, trap))


def _trapped(call: Callable[..., Awaitable[Any]], name: str, trap: Trap) -> Any:
    async def trapped(*args: Any, **kwargs: Any) -> Any:
        trap.passed(name, after=False)
        answer = await call(*args, **kwargs)
        trap.passed(name, after=True)
        return answer

    return trapped
