"""An app on a store in memory, and an observer that notes what it is told."""

from collections.abc import AsyncIterator, Mapping, Sequence
from typing import Any

import pytest

from windlass import Job, Observer, Windlass
from windlass.core.model import Lease, NewJob, Receipt, Transition
from windlass.core.schedule import Schedule


class Notes(Observer):
    """Notes every step, with what was told of it."""

    def __init__(self) -> None:
        self.lines: list[tuple[str, Any]] = []

    def __getitem__(self, step: str) -> list[Any]:
        return [told for name, told in self.lines if name == step]

    @property
    def steps(self) -> list[str]:
        return [name for name, _ in self.lines]

    def enqueuing(self, job: NewJob) -> Mapping[str, str] | None:
        self.lines.append(("enqueuing", job))
        return None

    def enqueued(self, job: NewJob, receipt: Receipt) -> None:
        self.lines.append(("enqueued", (job, receipt)))

    def rejected(self, job: NewJob, error: BaseException) -> None:
        self.lines.append(("rejected", (job, error)))

    def claimed(self, jobs: Sequence[Job], seconds: float) -> None:
        self.lines.append(("claimed", (jobs, seconds)))

    def finished(self, moves: Sequence[Transition], seconds: float) -> None:
        self.lines.append(("finished", (moves, seconds)))

    def started(self, job: Job, waited: float) -> None:
        self.lines.append(("started", (job, waited)))

    def ended(
        self, job: Job, move: Transition | None, seconds: float, error: BaseException | None
    ) -> None:
        self.lines.append(("ended", (job, move, seconds, error)))

    def lost(self, job: Job) -> None:
        self.lines.append(("lost", job))

    def cancelled(self, job: Job) -> None:
        self.lines.append(("cancelled", job))

    def refused(self, job: Job) -> None:
        self.lines.append(("refused", job))

    def rescued(self, job: Job, move: Transition) -> None:
        self.lines.append(("rescued", (job, move)))

    def renewed_late(self, leases: Sequence[Lease], seconds: float) -> None:
        self.lines.append(("renewed_late", (leases, seconds)))

    def ticked(self, schedule: Schedule, receipt: Receipt, lag: float) -> None:
        self.lines.append(("ticked", (schedule.name, receipt, lag)))

    def missed(self, schedule: Schedule, number: int) -> None:
        self.lines.append(("missed", (schedule.name, number)))

    def led(self, role: str, leads: bool) -> None:
        self.lines.append(("led", (role, leads)))

    def called(self, call: str, seconds: float, error: BaseException | None) -> None:
        self.lines.append(("called", (call, seconds, error)))


@pytest.fixture
async def app() -> AsyncIterator[Windlass]:
    app = Windlass("memory://")
    yield app
    await app.aclose()
    app.close()


@pytest.fixture
def notes(app: Windlass) -> Notes:
    notes = Notes()
    app.observe(notes)
    return notes
