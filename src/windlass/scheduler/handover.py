"""From the journal of a store into history: first written, then trimmed.

Who dies in between leaves lines that the next one hands over again, and history takes each but
once. So two who do it at once do no harm either.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from typing import Final

import msgspec

from ..core.model import Entry, Failure
from ..errors import StoreError, StoreUnavailable
from ..history.archive import Archive
from ..stores.contract import Store

log = logging.getLogger("windlass")

BATCH: Final = 500

replace = msgspec.structs.replace


async def hand_over(store: Store, archive: Archive) -> int:
    """All that is in the journal, a batch at a time; how many lines it was."""
    number = 0
    while entries := await store.read_journal(BATCH):
        await _keep(archive, entries)
        await store.trim_journal(entries)
        number += len(entries)
    return number


async def _keep(archive: Archive, entries: Sequence[Entry]) -> None:
    try:
        await archive.keep(entries)
    except StoreUnavailable:
        raise
    except StoreError:
        # One that cannot be written must not keep the others from it.
        for entry in entries:
            await _keep_one(archive, entry)


async def _keep_one(archive: Archive, entry: Entry) -> None:
    try:
        await archive.keep([entry])
    except StoreUnavailable:
        raise
    except StoreError as error:
        await archive.keep([bare(entry)])
        id = entry.job.id
        log.error("job %s is in history without its arguments and its result: %s", id, error)


def bare(entry: Entry) -> Entry:
    """A line without what can be large, or of a kind that a database does not take."""
    job = entry.job
    error = job.error and Failure(job.error.kind, "(left out)", at=job.error.at)
    spec = replace(job.spec, payload=b"", labels=None, headers=None)
    return replace(entry, job=replace(job, spec=spec, result=None, error=error, progress=None))
