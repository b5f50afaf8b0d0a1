"""The store of the view: opened when it is first looked at, and as often as that takes."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Sequence
from contextlib import suppress
from typing import Final

from ...admin.change import CANCEL, REPLAY, Change, change_jobs
from ...app import Windlass
from ...errors import WindlassError
from ...stores.contract import Store
from ..cancelled import Cancelled
from .look import Look
from .looker import Looker
from .ui import Wish

GOODBYE: Final = 2.0
"""Seconds that closing may take: the store may be just what does not answer."""

_CHANGES: Final[dict[str, Change]] = {"replay": REPLAY, "cancel": CANCEL}


class Eye:
    """Looks at the store of an app, and changes in it what the user wishes."""

    def __init__(self, app: Windlass) -> None:
        self._app = app
        self._looker: Looker | None = None
        self._cancelled = Cancelled(app)

    async def look(self, visible: Sequence[str] | None = None, opened: str | None = None) -> Look:
        if self._looker is None:
            self._looker = Looker(await self._store(), self._app.codecs)
        return await self._looker.look(visible, opened)

    async def carry_out(self, wish: Wish) -> str:
        """Do it; a sentence on what it came to."""
        store = await self._store()
        if wish.verb in _CHANGES:
            answer = await _change(store, _CHANGES[wish.verb], wish.name)
            await self._cancelled.tell(store)
            return answer
        pauses = wish.verb == "pause"
        await (store.pause(wish.name) if pauses else store.resume(wish.name))
        return f"{'Paused' if pauses else 'Resumed'} the queue {wish.name}."

    async def close(self) -> None:
        # Nothing is left to be lost, and nobody looks any more.
        with suppress(WindlassError, TimeoutError):
            async with asyncio.timeout(GOODBYE):
                await self._app.client.aclose()

    def _store(self) -> Awaitable[Store]:
        return self._app.client.store()


async def _change(store: Store, change: Change, id: str) -> str:
    answer = await change_jobs(store, change, [id])
    return answer.refused.get(id) or f"{change.done.capitalize()} the job {id}."
