"""History as an app offers it, to async code and to blocking code alike."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Mapping, Sequence
from datetime import datetime
from functools import cached_property
from typing import Any, TypedDict, TypeVar, Unpack

from ..config import HistorySettings
from ..core.clock import Clock, moment_ms
from ..core.duration import duration_ms
from ..core.model import Job, Page
from ..core.states import State
from ..errors import ConfigError, InvalidOption, UnknownJob
from ..sync import Handles
from .archive import Archive
from .open import open_archive
from .query import Attempt, HistoryQuery, Sort

T = TypeVar("T")


class Filters(TypedDict, total=False):
    """What `find` takes; all of it has to hold. Durations are in seconds."""

    states: Sequence[State | str]
    """completed, dead, cancelled, if none is named"""
    task: str
    queue: str
    since: datetime
    """ended at this moment or later"""
    until: datetime
    """ended before this moment"""
    labels: Mapping[str, str]
    error: str
    """a part of the error's type or text"""
    min_duration: float
    max_duration: float
    sort: Sort | str
    """finished, created, duration or attempts"""
    ascending: bool
    limit: int
    cursor: str | None


class History:
    """Jobs that an app has finished, for search.

    Where they are kept, if anywhere, is asked on first use, and only then is it opened.
    """

    def __init__(self, ask: Callable[[], HistorySettings], clock: Clock | None = None) -> None:
        self._ask = ask
        self._clock = clock
        self._handles: Handles[Archive] = Handles(self.archive)

    @cached_property
    def settings(self) -> HistorySettings:
        """Where it is kept, and for how long."""
        return self._ask()

    @property
    def is_kept(self) -> bool:
        """Whether there is a database for it."""
        return bool(self.settings.url)

    @property
    def url(self) -> str:
        """Where it is; `ConfigError` if it is nowhere."""
        if not self.is_kept:
            raise ConfigError(
                "This app keeps no history; name a database for it by Windlass(history=…), "
                "WINDLASS_HISTORY or url in [history] of windlass.toml."
            )
        return self.settings.url

    def archive(self, blocking: bool = False) -> Archive:
        """The database behind it: one more handle, not opened yet, the caller's to close."""
        return open_archive(self.url, clock=self._clock, blocking=blocking)

    def find(self, **filters: Unpack[Filters]) -> Page:
        """One page of the jobs that match. It may be short, even empty, while it has a cursor."""
        query = to_query(filters)
        return self.block(lambda archive: archive.find(query), "find(…)")

    async def afind(self, **filters: Unpack[Filters]) -> Page:
        """The same for async code."""
        query = to_query(filters)
        return await (await self._handles.open()).find(query)

    def get(self, id: str) -> Job:
        """The job of an id as it was when it, or its last attempt, ended."""
        return self.block(lambda archive: _get(archive, id), "get(…)")

    async def aget(self, id: str) -> Job:
        """The same for async code."""
        return await _get(await self._handles.open(), id)

    def attempts(self, id: str) -> Sequence[Attempt]:
        """The attempts of a job, oldest first; of more than 1,000, the last ones."""
        return self.block(lambda archive: archive.attempts(id), "attempts(…)")

    async def aattempts(self, id: str) -> Sequence[Attempt]:
        """The same for async code."""
        return await (await self._handles.open()).attempts(id)

    async def aclose(self) -> None:
        """Close what async code on this event loop used."""
        await self._handles.aclose()

    def close(self) -> None:
        """Close what blocking code used."""
        self._handles.close()

    def block(self, act: Callable[[Archive], Coroutine[Any, Any, T]], call: str = "find(…)") -> T:
        """Run `act` for a caller without an event loop."""
        return self._handles.block(act, f"app.history.{call}", f"app.history.a{call}")


async def _get(archive: Archive, id: str) -> Job:
    job = await archive.get(id)
    if job is None:
        raise UnknownJob(f"There is no job {id} in history: it is not over, or was not kept.")
    return job


def to_query(filters: Filters) -> HistoryQuery:
    """Filters as people give them, checked."""
    given: dict[str, Any] = dict(filters)
    for name, read in _READERS.items():
        if given.get(name) is not None:
            given[name] = read(given[name], name)
    try:
        return HistoryQuery(**given)
    except TypeError:
        known = ", ".join(Filters.__annotations__)
        raise InvalidOption(f"History can be searched by {known}.") from None


def _states(values: Sequence[State | str], name: str) -> tuple[State, ...]:
    given = (values,) if isinstance(values, str) else values
    return tuple(_one_of(State, value, name) for value in given)


def _one_of(kind: type[T], value: Any, name: str) -> T:
    try:
        return kind(value)  # type: ignore[call-arg]
    except ValueError:
        known = ", ".join(map(str, kind))  # type: ignore[call-overload]
        raise InvalidOption(f"{name} has no {value!r}; known are {known}.") from None


_READERS: Mapping[str, Callable[[Any, str], Any]] = {
    "states": _states,
    "since": moment_ms,
    "until": moment_ms,
    "min_duration": duration_ms,
    "max_duration": duration_ms,
    "sort": lambda value, name: _one_of(Sort, value, name),
}
