"""`app.workers`: who works, and what they are told."""

from __future__ import annotations

from collections.abc import Sequence
from difflib import get_close_matches
from typing import ClassVar

from ..core.name import checked_name
from ..core.workers import Order, WorkerInfo
from ..errors import InvalidOption
from ..stores.contract import Store
from .section import Act, Changed, Section


async def direct(store: Store, ids: Sequence[str], order: Order) -> Changed:
    """Leave an order for workers, with a sentence for each that is not heard of."""
    asked = list(dict.fromkeys(ids))
    told = await store.direct(asked, order)
    missing = [id for id in asked if id not in told]
    known = [worker.id for worker in await store.workers()] if missing else []
    refused = {id: _unheard(id, known) for id in missing}
    return Changed(len(told), len(refused), [id for id in asked if id in told], refused)


def _unheard(id: str, known: Sequence[str]) -> str:
    near = get_close_matches(id, known, 1, 0.8)
    return f"No worker {id} is heard of{f': did you mean {near[0]}?' if near else '.'}"


class Workers(Section):
    """The workers that were heard of lately."""

    NAME: ClassVar = "workers"

    def list(self) -> Sequence[WorkerInfo]:
        """The workers that are alive, by id: what they serve, how busy they are, their orders.

        One that ends takes itself off the list; one that dies is off it after half a minute.
        """
        return self._block(lambda store: store.workers(), "list")

    async def alist(self) -> Sequence[WorkerInfo]:
        """As `list`, in async code."""
        return await self._here(lambda store: store.workers())

    def quiet(self, *ids: str) -> Changed:
        """Let workers claim no more, and finish what they run. They follow within seconds."""
        return self._block(_directing(ids, "quiet"), "quiet")

    async def aquiet(self, *ids: str) -> Changed:
        """As `quiet`, in async code."""
        return await self._here(_directing(ids, "quiet"))

    def resume(self, *ids: str) -> Changed:
        """Let workers claim jobs again."""
        return self._block(_directing(ids, "work"), "resume")

    async def aresume(self, *ids: str) -> Changed:
        """As `resume`, in async code."""
        return await self._here(_directing(ids, "work"))

    def stop(self, *ids: str) -> Changed:
        """Let workers stop, as SIGTERM does: running jobs may finish."""
        return self._block(_directing(ids, "stop"), "stop")

    async def astop(self, *ids: str) -> Changed:
        """As `stop`, in async code."""
        return await self._here(_directing(ids, "stop"))


def _directing(ids: Sequence[str], order: Order) -> Act[Changed]:
    if not ids:
        raise InvalidOption("Name the workers by their ids: app.workers.list() has them.")
    for id in ids:
        checked_name(id, "id of a worker")
    return lambda store: direct(store, ids, order)
