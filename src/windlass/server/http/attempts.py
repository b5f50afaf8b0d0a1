"""What each attempt of a job came to, and what it logged meanwhile."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from ...admin.attempts import AttemptLog, attempt_log, attempts_of
from ...client import get_job
from .call import Call
from .jobs import id_in


class AttemptList(msgspec.Struct, frozen=True):
    """The attempts that are kept, oldest first."""

    attempts: Sequence[AttemptLog]


async def list_attempts(call: Call[None, None]) -> AttemptList:
    """List the attempts of a job, with what each came to and logged."""
    job = await get_job(call.store, id_in(call))
    return AttemptList([attempt_log(each) for each in await attempts_of(call.store, job.id)])
