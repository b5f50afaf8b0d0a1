"""What jobs can be looked for by besides what a store lists them by, as requests say it."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated

import msgspec

from ...admin.selection import Selection, Sieve, pair_in
from ...core.clock import to_ms
from ..site import Site

Moment = Annotated[datetime, msgspec.Meta(tz=True)]


class Filters(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Which jobs: all of this has to hold."""

    worker: str | None = None
    """the one that has it, or had it last"""
    label: tuple[str, ...] = ()
    """each as name=value"""
    since: Moment | None = None
    """ended then or later; created, if it has not ended"""
    until: Moment | None = None
    argument: tuple[str, ...] = ()
    """each as name=value, or a value of any argument"""
    error: str | None = None
    """a part of the error's type or text"""
    fingerprint: str | None = None
    """of the error"""


def sieve_of(site: Site, filters: Filters) -> Sieve:
    """What a request asks for; redacted arguments cannot be looked for."""
    selection = Selection(
        worker=filters.worker,
        labels=tuple(map(pair_in, filters.label)),
        since=_ms(filters.since),
        until=_ms(filters.until),
        arguments=filters.argument,
        error=filters.error,
        fingerprint=filters.fingerprint,
    )
    return Sieve(selection, site.eyes)


def _ms(moment: datetime | None) -> int | None:
    return None if moment is None else to_ms(moment.timestamp())
