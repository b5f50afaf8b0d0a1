"""What a handler leaves for the next attempt of its job, as the handler sees it."""

from __future__ import annotations

from typing import Any, Protocol

from .model import Job


class Checkpoints(Protocol):
    """Where checkpoints are kept. What is kept last is what the next attempt finds."""

    def state(self, job: Job) -> Any:
        """What the attempt before has left; None if it left nothing."""

    def keep(self, job: Job, value: Any) -> None:
        """Return when the store has it; for handlers that block."""

    async def akeep(self, job: Job, value: Any) -> None:
        """The same for handlers on the event loop."""
