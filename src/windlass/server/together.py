"""Many jobs at once, for a caller who names them: no more than can be held in memory."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from ..core.attempts import AttemptRecord, encode_attempt
from ..core.model import Job, size_of
from ..errors import UsageError
from ..members import in_parts
from ..stores.contract import Store
from .faults import TooLarge

FIRST: Final = 20
"""So many are read before it is known how large they are."""

MOST_BYTES: Final = 32 * 1024 * 1024
"""What several jobs may take together."""


async def get_within(
    store: Store, ids: Sequence[str], refusal: type[UsageError] = TooLarge
) -> dict[str, Job]:
    """Those that are there; a refusal if several of them are larger than that together."""
    found: dict[str, Job] = {}
    size = 0
    async for part in in_parts(store, ids):
        here = {id: job for id, job in part.items() if job is not None}
        found |= here
        size += sum(map(size_of, here.values()))
        _refuse(size, ids, refusal)
    return found


async def attempts_within(
    store: Store, ids: Sequence[str], refusal: type[UsageError] = TooLarge
) -> dict[str, Sequence[AttemptRecord]]:
    """The same for their attempts."""
    found: dict[str, Sequence[AttemptRecord]] = {}
    size = 0
    for start in range(0, len(ids), FIRST):
        part = await store.attempts(ids[start : start + FIRST])
        found.update(part)
        size += sum(len(encode_attempt(each)) for records in part.values() for each in records)
        _refuse(size, ids, refusal)
    return found


def _refuse(size: int, ids: Sequence[str], refusal: type[UsageError]) -> None:
    if size > MOST_BYTES and len(ids) > 1:
        raise refusal(f"These jobs take more than {MOST_BYTES:,} bytes; ask for fewer jobs.")
