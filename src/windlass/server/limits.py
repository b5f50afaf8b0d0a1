"""The limits of the app, which whoever only enqueues cannot change.

A job brings the limits of its lane along, and those of the last job count. So a producer could
lift the limit of a task, or of all that share it, by a job that names it; or have its own jobs run
beside it. Who may operate does so; who may only enqueue takes the limits as the app has them.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from msgspec.structs import replace

from ..core.apikey import Role
from ..core.keyed import BATCH, LIMIT, SEQUENCE
from ..core.lane import Lane
from ..core.model import NewJob
from ..core.options import Options
from ..errors import Forbidden
from ..task import Registry
from .caller import Caller

_SEQUENCE: Final = Lane("", slots=1, strict=True)


class Limits:
    """What the tasks of an app say of lanes; of a server without an app, nothing."""

    def __init__(self, registry: Registry | None) -> None:
        self._of: dict[str, tuple[str, Lane]] = {}
        """by task: how the name of its lane begins, and the limits"""
        self._named: dict[str, list[Lane]] = {}
        """by how names begin: tasks may share a limit, and say something different of it"""
        for task in registry or ():
            found = _lane_of(task, registry[task].options) if registry else None
            if found is not None:
                self._of[task] = found
                self._named.setdefault(found[0], []).append(found[1])

    def refuse_other(self, caller: Caller, jobs: Iterable[NewJob], *, made_here: bool) -> None:
        """Raise `Forbidden` for jobs with other limits than the app's.

        Those that were made elsewhere need not have the lane of their task: the program that has
        made them may know nothing of the options of the app.
        """
        if Role.OPERATE in caller.allows:
            return
        for job in jobs:
            lane = job.spec.lane
            own = self._of.get(job.spec.task)
            if lane is None:
                if made_here and own is not None:
                    raise _refusal(caller, own[0])
            elif made_here and own is not None and not _is_of(lane.name, own[0]):
                raise _refusal(caller, own[0])
            elif not self._is_as_known(lane):
                raise _refusal(caller, lane.name)

    def _is_as_known(self, lane: Lane) -> bool:
        limits = replace(lane, name="")
        if lane.name.startswith(f"{SEQUENCE}:"):
            return limits == _SEQUENCE
        known = [each for name, some in self._named.items() if _is_of(lane.name, name)
                 for each in some]  # fmt: skip
        return not known or limits in known


def _lane_of(task: str, options: Options) -> tuple[str, Lane] | None:
    if options.sequence is not None:
        return SEQUENCE, _SEQUENCE
    if options.batch is not None:
        return f"{BATCH}:{task}", options.batch.lane("")
    if options.limit is not None:
        return f"{LIMIT}:{options.limit.name or task}", options.limit.lane("")
    return None


def _is_of(name: str, begin: str) -> bool:
    """Whether a lane is the one of this name, or of one of its keys."""
    return name == begin or name.startswith(f"{begin}:")


def _refusal(caller: Caller, name: str) -> Forbidden:
    return Forbidden(
        f"The limits of {name} are those of the app: to change them, the key {caller.name} needs "
        "the role operate."
    )
