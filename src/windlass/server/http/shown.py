"""A job as it is shown: with what is not for everybody's eyes left out."""

from __future__ import annotations

from msgspec.structs import replace

from ...admin.eyes import HIDDEN
from ...admin.record import FullRecord, full_record
from ...core.model import Job
from ..site import Site


def shown(site: Site, job: Job) -> FullRecord:
    """The job with its arguments, those of redacted names hidden."""
    full, eyes = full_record(job, site.app.codecs), site.eyes
    if not eyes.hidden or full.args is None or full.kwargs is None:
        return full
    args = eyes.positional(job.spec, full.args)
    kwargs = eyes.by_name(full.kwargs)
    return replace(
        full,
        args=[HIDDEN if each.hidden else each.value for each in args],
        kwargs={str(each.name): HIDDEN if each.hidden else each.value for each in kwargs},
    )
