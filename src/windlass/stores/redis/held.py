"""Jobs that are held back until they can come in, as the outbox has them."""

from __future__ import annotations

from typing import NamedTuple

from ...core.model import Spec
from ...core.states import LIVE
from .record import HAS_TRAITS, Sides, pack_key, read
from .traits import window_key, without_traits


class Held(NamedTuple):
    """What must be known of a job that is held back."""

    queue: str
    unique: str | None
    """the key that it is to hold, be it for a time"""
    more: int
    live: bool
    fence: int
    spec: Spec

    @property
    def window(self) -> int:
        """For how many milliseconds it is to hold its key, 0 if as long as it is live."""
        return max(self.spec.unique_for, 0)


def read_held(record: bytes, large: bytes | None = None, *, new: bool = True) -> Held:
    """The record of a job, as `pack_new` or `pack_restored` made it."""
    if not new:
        job = read(b"-", record)
        return Held(job.queue, job.unique, record[19], job.state in LIVE, job.fence, job.spec)
    more, traits = record[3], b""
    if more & HAS_TRAITS:
        record, traits = without_traits(record)
    job = read(b"-", pack_key(0, 0) + record, Sides(large=large))
    key = job.unique or window_key(traits)
    return Held(job.queue, key, more, job.state in LIVE, job.fence, job.spec)
