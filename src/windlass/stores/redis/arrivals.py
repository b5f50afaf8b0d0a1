"""Jobs that come in: new ones, and those of another store, which are as they were there."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from ...core.model import Job, NewJob
from ...core.states import LIVE
from .edges import Ending
from .packing import Packed, pack_new, pack_restored, restore_words
from .parents import Told, told_words
from .record import pack_id
from .replies import read_receipts
from .shard import Accepted, Shard, queues_of

Arrival = NewJob | Job

NEW: Final = "a"
RESTORED: Final = "b"
"""The kinds of notes in the outbox for jobs that are held back."""


def is_fresh(job: Arrival) -> bool:
    """Whether the id was made for this job, so that nobody else can have it."""
    return isinstance(job, NewJob) and job.fresh


def key_of(job: Arrival) -> str | None:
    """The unique key that a job is to hold; a finished one holds none."""
    return job.unique if isinstance(job, NewJob) or job.state in LIVE else None


def note_of(job: Arrival) -> str:
    return NEW if isinstance(job, NewJob) else RESTORED


def pack(job: Arrival, more: int) -> Packed:
    """A job for the scripts; `more` says which of its names are at home elsewhere."""
    return pack_new(job, more) if isinstance(job, NewJob) else pack_restored(job, more)


async def let_in(
    shard: Shard, jobs: Sequence[Arrival], packed: Sequence[Packed], told: Mapping[int, Told]
) -> Accepted:
    """Make jobs of some that are all of one kind and may have been held back."""
    new = [job for job in jobs if isinstance(job, NewJob)]
    if new:
        accepted, _ = await shard.insert_packed(
            new, packed, ask_names=True, parents=told_words(told)
        )
        return accepted
    others = [job for job in jobs if isinstance(job, Job)]
    tails = [tail for each in told.values() for tail in each.tails]
    return await restore(shard, others, packed, ask_names=True, tails=tails)


async def restore(
    shard: Shard,
    jobs: Sequence[Job],
    packed: Sequence[Packed],
    *,
    ask_names: bool = False,
    tails: Sequence[bytes] = (),
) -> Accepted:
    """Take in jobs of another store; only one, if it is blocked."""
    ids = [pack_id(job.id) for job in jobs]
    words = restore_words(ids, packed, max(job.fence for job in jobs), ask_names)
    refused, ended = await shard.run("restore", queues_of(jobs), [*words, *tails])
    endings = [Ending(shard.number, raw) for raw in ended]
    return Accepted(read_receipts(jobs, refused), endings=endings)
