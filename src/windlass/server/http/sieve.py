"""What jobs can be looked for by besides what a store lists them by: each is looked at."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import datetime
from typing import Annotated, Any, Final

import msgspec

from ...core.clock import to_ms
from ...core.likeness import error_fingerprint
from ...core.model import Job
from ...core.states import FINISHED, State
from ...errors import InvalidOption
from ..eyes import Eyes, Named
from ..site import Site

Moment = Annotated[datetime, msgspec.Meta(tz=True)]
Test = Callable[[Job], bool]
NESTED: Final = (list, tuple, set, frozenset)


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


class Sieve:
    """Holds jobs against filters. `is_open` says that it lets all of them pass."""

    def __init__(self, site: Site, filters: Filters) -> None:
        self._eyes = Eyes(site)
        self._tests = list(self._made(filters))
        self._since = None if filters.since is None else _ms(filters.since)

    @property
    def is_open(self) -> bool:
        return not self._tests

    def passes(self, job: Job) -> bool:
        return all(test(job) for test in self._tests)

    def ends(self, states: tuple[State, ...], job: Job) -> bool:
        """Whether nothing that comes behind this job can pass: the newest come first, one state."""
        if self._since is None or len(states) != 1 or states[0] not in FINISHED:
            return False
        return job.finished_at is not None and job.finished_at < self._since

    def _made(self, asked: Filters) -> Iterator[Test]:
        """The cheapest ones first."""
        if (worker := asked.worker) is not None:
            yield lambda job: job.worker == worker
        if asked.since is not None:
            yield _since(_ms(asked.since))
        if asked.until is not None:
            yield _until(_ms(asked.until))
        for text in asked.label:
            yield _label(*pair_in(text))
        if asked.error is not None:
            yield _error(asked.error.casefold())
        if (alike := asked.fingerprint) is not None:
            yield (
                lambda job: (
                    job.error is not None and error_fingerprint(job.task, job.error) == alike
                )
            )
        for text in asked.argument:
            yield self._argument(text)

    def _argument(self, text: str) -> Test:
        name, separator, value = text.partition("=")
        if not separator or not name.isidentifier():
            return lambda job: any(_has(each.value, text) for each in self._eyes.seen(job.spec))
        if name in self._eyes.hidden:
            raise InvalidOption(f"The argument {name} is not shown here, nor can it be looked for.")

        def named(each: Named) -> bool:
            return each.name == name and _has(each.value, value)

        return lambda job: any(map(named, self._eyes.seen(job.spec)))


def pair_in(text: str) -> tuple[str, str]:
    """A label as it is written in a query."""
    name, separator, value = text.partition("=")
    if not separator:
        raise InvalidOption(f"A label is given as name=value; got {text!r}.")
    return name, value


def _ms(moment: datetime) -> int:
    return to_ms(moment.timestamp())


def _moment(job: Job) -> int:
    return job.created_at if job.finished_at is None else job.finished_at


def _since(moment: int) -> Test:
    return lambda job: _moment(job) >= moment


def _until(moment: int) -> Test:
    return lambda job: _moment(job) < moment


def _label(name: str, value: str) -> Test:
    return lambda job: (job.spec.labels or {}).get(name) == value


def _error(part: str) -> Test:
    return lambda job: job.error is not None and part in str(job.error).casefold()


def _has(value: Any, text: str) -> bool:
    """Whether a text has this in it, a number or the like is written so, or something within."""
    left = [value]
    while left:
        each = left.pop()
        if isinstance(each, str):
            if text in each:
                return True
        elif isinstance(each, dict):
            left += each.values()
        elif isinstance(each, NESTED):
            left += each
        elif _written(each) == text:
            return True
    return False


def _written(value: Any) -> str:
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    return str(value)
