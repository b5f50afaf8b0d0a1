"""Hands signals to the handlers that wait for them, and ends the attempts of those who must."""

from __future__ import annotations

import asyncio
import threading
from collections import Counter
from datetime import timedelta
from typing import Any, Final

from ..core.binding import SIGNAL
from ..core.codec import Codecs, decode_result
from ..core.duration import limit_ms
from ..core.model import Job
from ..core.name import checked_name
from ..core.signal import late, timeouts
from ..errors import AttemptParked, SignalTimeout, UsageError, WouldBlock
from ..interrupts import uninterrupted
from ..stores.contract import Store
from ..sync import result_of
from .hand import Claim

NOTHING: Final = object()


class StoredSignals:
    """The signals of a worker's jobs. A claim brings all that came before it; one that comes
    later is found when the job is parked, by the store."""

    def __init__(self, store: Store, codecs: Codecs) -> None:
        self._store = store
        self._codecs = codecs
        self._loop = asyncio.get_running_loop()
        self._thread = threading.get_ident()
        self.told: dict[Claim, Counter[str]] = {}
        """how many of the waits that were in vain running attempts have been told of, by name"""

    def take(self, job: Job, name: str, timeout: float | timedelta | None) -> Any:
        if threading.get_ident() == self._thread:
            raise WouldBlock(
                "context.wait_for(…) is for blocking handlers; use `await context.await_for(…)` "
                "in an async handler."
            )
        delay = _checked(name, timeout)
        value = self._look(job, name)
        if value is NOTHING:
            with uninterrupted:
                result_of(asyncio.run_coroutine_threadsafe(self._go_past(job), self._loop))
            raise AttemptParked(name, delay)
        return value

    async def atake(self, job: Job, name: str, timeout: float | timedelta | None) -> Any:
        if asyncio.get_running_loop() is not self._loop:
            raise UsageError(
                "context.await_for(…) is for async handlers, on the event loop of the worker; in a "
                "blocking handler use context.wait_for(…)."
            )
        delay = _checked(name, timeout)
        value = self._look(job, name)
        if value is NOTHING:
            await self._go_past(job)
            raise AttemptParked(name, delay)
        return value

    def _look(self, job: Job, name: str) -> Any:
        """What has come, or that it did not in time; nothing if it is still to be waited for."""
        if job.mail and name in job.mail:
            codec = self._codecs.get(job.spec.content_type)
            return decode_result(codec, job.mail[name], SIGNAL, job.id, job.task, name)
        told = self.told.setdefault((job.id, job.fence), Counter())
        if told[name] < timeouts(job, name):
            told[name] += 1
            raise SignalTimeout(f"The signal {name!r} did not come in time.")
        return NOTHING

    async def _go_past(self, job: Job) -> None:
        """Note that the handler waits again, after a wait that was in vain.

        Without that, the next attempt would wait for the first one again, and so for ever.
        """
        if job.awaits is not None:
            word = late(job.awaits, timeouts(job, job.awaits))
            await self._store.signal(job.id, word, b"")


def _checked(name: str, timeout: float | timedelta | None) -> int | None:
    checked_name(name, "name of a signal")
    return limit_ms(timeout, "timeout")
