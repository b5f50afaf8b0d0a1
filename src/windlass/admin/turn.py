"""One move at a time on a store, whichever side of it the store is on."""

from __future__ import annotations

import logging
import time
from types import TracebackType
from typing import Final

from ..core.clock import to_ms
from ..core.ids import new_id
from ..errors import InvalidOption, MoveRefused, StoreError
from ..stores.contract import Store

log = logging.getLogger("windlass")

ROLE: Final = "move"
TERM: Final = 15.0
RENEWALS_PER_TERM: Final = 3


class Turn:
    """The leadership of moves on two stores, held while the block runs.

    A process that was frozen for longer than a term finds out before its next step. It cannot
    be told in the middle of one: never thaw a move after another was started in its place.
    """

    def __init__(self, source: Store, target: Store) -> None:
        name = new_id()
        # Two names: of one store that was given twice, the second is refused.
        self._sides = ((source, f"{name} source"), (target, f"{name} target"))
        self._terms: tuple[int, int] | None = None
        self._renewed = 0.0

    async def __aenter__(self) -> Turn:
        try:
            await self._stand()
        except BaseException:
            await self._resign()
            raise
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None
    ) -> None:
        await self._resign()

    async def keep(self) -> None:
        """Go on, if the turn is still ours; called before every step."""
        if time.monotonic() - self._renewed > TERM / RENEWALS_PER_TERM:
            await self._stand()

    async def _stand(self) -> None:
        (source, first), (target, second) = self._sides
        # Before the calls: the terms cannot have begun earlier.
        began = time.monotonic()
        on_source = await source.elect(ROLE, first, to_ms(TERM))
        if on_source is None:
            raise _refusal("source")
        on_target = await target.elect(ROLE, second, to_ms(TERM))
        if on_target is None:
            if await self._is_one_store():
                raise InvalidOption("Source and target are one store: there is nothing to move.")
            raise _refusal("target")
        terms = (on_source.term, on_target.term)
        if self._terms not in (None, terms):
            # It ran out, and whoever had it meanwhile may have come to the end.
            raise MoveRefused("This move was held up for too long and lost its turn; run it again.")
        self._terms, self._renewed = terms, began

    async def _is_one_store(self) -> bool:
        """Whether the target was only taken because the source is."""
        (source, first), (target, second) = self._sides
        await source.resign(ROLE, first)
        return await target.elect(ROLE, second, to_ms(TERM)) is not None

    async def _resign(self) -> None:
        for store, holder in self._sides:
            try:
                await store.resign(ROLE, holder)
            except StoreError as error:
                log.warning("could not end the turn of this move, it will expire: %s", error)


def _refusal(side: str) -> MoveRefused:
    return MoveRefused(
        f"Another move is under way on the {side}, or was killed a moment ago; "
        f"if none runs, try again in {TERM:.0f} seconds."
    )
