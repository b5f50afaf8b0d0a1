"""A job as it is shown: with what is not for everybody's eyes left out."""

from __future__ import annotations

from typing import Any, Final

from msgspec.structs import replace

from ...admin.record import FullRecord, full_record
from ...core.model import Job
from ...errors import InvalidArguments
from ..site import Site

HIDDEN: Final = "***"


def shown(site: Site, job: Job) -> FullRecord:
    """The job with its arguments, those of redacted names hidden."""
    full = full_record(job, site.app.codecs)
    hidden = frozenset(site.settings.redact)
    if not hidden or full.args is None or full.kwargs is None:
        return full
    kwargs = {name: HIDDEN if name in hidden else value for name, value in full.kwargs.items()}
    return replace(full, args=_positional(site, job, list(full.args), hidden), kwargs=kwargs)


def _positional(site: Site, job: Job, args: list[Any], hidden: frozenset[str]) -> list[Any]:
    """What a position is called only the function knows; without it nothing is shown."""
    if job.task not in site.app.registry:
        return [HIDDEN for _ in args]
    arguments = site.app.registry[job.task].arguments
    try:
        names = list(arguments.bound(args, {}))
    except (TypeError, InvalidArguments):
        return [HIDDEN for _ in args]
    return [
        HIDDEN if name in hidden else value
        for name, value in zip(names + [""] * len(args), args, strict=False)
    ]
