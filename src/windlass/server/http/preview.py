"""The beginning of what jobs were given: enough to tell them apart in a list."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

import msgspec

from ...admin.eyes import Eyes
from ...core.model import Job
from ..site import Site

LONGEST: Final = 120
"""Characters."""

LARGEST: Final = 4_096
"""Bytes: arguments that are larger are not read for the sake of a list."""


def previews(site: Site, jobs: Sequence[Job]) -> Mapping[str, str]:
    """For each job that was given something that can be read, what that is, in one line."""
    eyes = site.eyes
    found = {job.id: _preview(eyes, job) for job in jobs if len(job.spec.payload) <= LARGEST}
    return {id: text for id, text in found.items() if text}


def _preview(eyes: Eyes, job: Job) -> str:
    args, kwargs = eyes.shown(job)
    parts = [_written(value) for value in args or ()]
    parts += [f"{name}={_written(value)}" for name, value in (kwargs or {}).items()]
    text = ", ".join(parts)
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 1]}…"


def _written(value: Any) -> str:
    return msgspec.json.encode(value).decode()
