"""A store whose calls are told to those who listen: how long each took, and what it raised.

One wrapper around the contract, for every engine; without listeners there is none. `wait` is left
out: it takes as long as there is nothing to do. Which jobs a call was about is told of three:
`claim`, `finish` and `cancel`.
"""

from __future__ import annotations

import inspect
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, Final, TypeVar, cast

from ..core.model import Job, Transition
from ..observe.events import Events
from .contract import Store

T = TypeVar("T")
Get = Callable[[Sequence[str]], Awaitable[Mapping[str, Job]]]
Cancel = Callable[[Sequence[str]], Awaitable[frozenset[str]]]
Claim = Callable[..., Awaitable[Sequence[Job]]]
Finish = Callable[[Sequence[Transition]], Awaitable[frozenset[str]]]

CALLS: Final = tuple(
    name
    for name, member in inspect.getmembers(Store, inspect.iscoroutinefunction)
    if name not in ("open", "close", "wait")
)


class Observed:
    """Stands for a store; what is not of the contract is the store's own."""

    get: Get
    cancel: Cancel
    claim: Claim
    finish: Finish

    def __init__(self, store: Store, events: Events) -> None:
        self._engine = store
        for name in CALLS:
            setattr(self, name, _timed(getattr(store, name), name, events))
        if events.claimed:
            self.claim = _claiming(self.claim, events)
        if events.finished:
            self.finish = _finishing(self.finish, events)
        if events.cancelled and not getattr(store, "is_served", False):
            self.cancel = _cancelling(self.cancel, self.get, events)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._engine, name)

    @property
    def engine(self) -> Store:
        return self._engine


def observed(store: Store, events: Events) -> Store:
    """The store, with its calls told to those who listen by now."""
    heard = events.called or events.claimed or events.finished or events.cancelled
    return cast(Store, Observed(store, events)) if heard else store


def engine_of(store: Store) -> Store:
    """The store itself, whoever observes it."""
    return store.engine if isinstance(store, Observed) else store


def _timed(
    call: Callable[..., Awaitable[T]], name: str, events: Events
) -> Callable[..., Awaitable[T]]:
    async def timed(*args: Any, **kwargs: Any) -> T:
        began = time.perf_counter()
        try:
            answer = await call(*args, **kwargs)
        except Exception as error:
            events.called(name, time.perf_counter() - began, error)
            raise
        events.called(name, time.perf_counter() - began, None)
        return answer

    return timed


def _claiming(claim: Claim, events: Events) -> Claim:
    async def told(*args: Any, **kwargs: Any) -> Sequence[Job]:
        began = time.perf_counter()
        jobs = await claim(*args, **kwargs)
        if jobs:
            events.claimed(jobs, time.perf_counter() - began)
        return jobs

    return told


def _finishing(finish: Finish, events: Events) -> Finish:
    async def told(transitions: Sequence[Transition]) -> frozenset[str]:
        began = time.perf_counter()
        held = await finish(transitions)
        events.finished(transitions, time.perf_counter() - began)
        return held

    return told


def _cancelling(cancel: Cancel, get: Get, events: Events) -> Cancel:
    async def told(ids: Sequence[str]) -> frozenset[str]:
        # Before: one that is not kept is gone afterwards.
        known = await get(ids)
        done = await cancel(ids)
        for id, job in known.items():
            if id in done:
                events.cancelled(job)
        return done

    return told
