"""Jobs as the store has them, for callers who may not see all of their arguments.

Programs that use a server as their store get what is stored, which is how workers get at their
arguments. A key that is for looking alone gets no more of these than the API shows it.
"""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from ..admin.eyes import HIDDEN, Named
from ..core.apikey import Role
from ..core.codec import decode_call, encode_call
from ..core.model import Job, NewJob, Spec
from ..core.schedule import Schedule
from ..errors import InvalidOption
from .caller import Caller
from .site import Site


class Veil:
    """Lies over what a caller gets, if there is something to hide and it is not to work with it."""

    def __init__(self, site: Site, caller: Caller) -> None:
        self._eyes = site.eyes
        self._codecs = site.app.codecs
        self._lies = bool(self._eyes.hidden) and Role.WORK not in caller.allows

    def jobs(self, jobs: Sequence[Job]) -> Sequence[Job]:
        if not self._lies:
            return jobs
        return [replace(job, spec=self._veiled(job)) for job in jobs]

    def schedules(self, schedules: Sequence[Schedule]) -> Sequence[Schedule]:
        if not self._lies:
            return schedules
        return [replace(each, spec=self._veiled(each.new_job(0))) for each in schedules]

    def refuse(self, schedule: Schedule) -> None:
        """Raise for a schedule that was got through a veil, and would be stored as it was seen."""
        if not self._lies:
            return
        try:
            args, kwargs = self._call(schedule.new_job(0))
        except Exception:
            # Of what cannot be read here nothing was shown either.
            return
        if any(each.hidden and each.value == HIDDEN for each in (*args, *kwargs)):
            raise InvalidOption(
                f"Arguments of the schedule {schedule.name} are hidden from this key, so that it "
                "cannot store it again: say what they are, or use a key with the role work."
            )

    def _veiled(self, job: Job | NewJob) -> Spec:
        spec = job.spec
        try:
            args, kwargs = self._call(job)
            if not any(each.hidden for each in (*args, *kwargs)):
                return spec
            payload = encode_call(
                self._codecs.get(spec.content_type),
                tuple(map(_seen, args)),
                {str(each.name): _seen(each) for each in kwargs},
                job.id,
                spec.task,
            )
        except Exception:
            # A codec of the user's own can fail in any way; then all of it is hidden.
            payload = b""
        return replace(spec, payload=payload)

    def _call(self, job: Job | NewJob) -> tuple[list[Named], list[Named]]:
        spec = job.spec
        codec = self._codecs.get(spec.content_type)
        args, kwargs = decode_call(codec, spec.payload, job.id, spec.task)
        return self._eyes.positional(spec, args), self._eyes.by_name(kwargs)


def _seen(each: Named) -> object:
    return HIDDEN if each.hidden else each.value
