"""Signals: what a handler waits for from outside, and how the wait for it ended. Pure."""

from __future__ import annotations

from datetime import timedelta
from typing import Any, Protocol

from .model import Job


class Signals(Protocol):
    """Where a handler gets signals from. A wait ends by the value, by `SignalTimeout`, or by
    `AttemptParked`: then the handler is called again once there is one of the others."""

    def take(self, job: Job, name: str, timeout: float | timedelta | None) -> Any:
        """For handlers that block."""

    async def atake(self, job: Job, name: str, timeout: float | timedelta | None) -> Any:
        """The same for handlers on the event loop."""


def late(name: str, number: int) -> str:
    """The word in the mail for a wait that was in vain. Begins with a blank, which no name does
    that can be sent."""
    return f" {number} {name}"


def timeouts(job: Job, name: str) -> int:
    """How many waits for a signal have been in vain.

    The last one is told by what the job awaits still; those before it, which the handler went
    on after to wait again, by its mail.
    """
    number = 0
    while late(name, number + 1) in (job.mail or ()):
        number += 1
    return number + (job.awaits == name)


def came(job: Job) -> list[str]:
    """The names of the signals that came."""
    return sorted(name for name in job.mail or () if not name.startswith(" "))
