"""Following jobs to their end."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Mapping, Sequence
from typing import Any, Final

from ...core.model import Job
from ...core.states import FINISHED
from ...members import in_parts
from ...stores.contract import Store
from ..faults import Draining
from ..site import Site
from ..watch import Mark, mark_of

LONGEST: Final = 60.0
"""Seconds after which to look once more, whatever the watcher says."""


async def watched(
    site: Site, store: Store, ids: Sequence[str]
) -> AsyncGenerator[tuple[str, Job | None], None]:
    """Each job as it is, then those that change, until all are finished or gone.

    `store` is the caller's: what it does not see is not there.
    """
    known: dict[str, Mark] = {}
    async for part in in_parts(store, [*dict.fromkeys(ids)]):
        for id, job in part.items():
            yield id, job
            _note(known, id, job)
    stopping = asyncio.ensure_future(site.draining.wait())
    try:
        while known:
            for id, job in (await _changes(site, known, stopping)).items():
                yield id, job
                _note(known, id, job)
    finally:
        stopping.cancel()


async def _changes(
    site: Site, known: Mapping[str, Mark], stopping: asyncio.Future[Any]
) -> Mapping[str, Job | None]:
    looking = asyncio.ensure_future(site.watcher.changes(known, LONGEST))
    try:
        await asyncio.wait((looking, stopping), return_when=asyncio.FIRST_COMPLETED)
        if stopping.done():
            raise Draining("The server is about to stop; watch the jobs again to go on.")
        return looking.result()
    finally:
        looking.cancel()


def _note(known: dict[str, Mark], id: str, job: Job | None) -> None:
    if job is None or job.state in FINISHED:
        known.pop(id, None)
    else:
        known[id] = mark_of(job)
