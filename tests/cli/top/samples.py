"""Looks that were never taken, to compute views from."""

from collections.abc import Mapping, Sequence
from typing import Any

from windlass.admin.attention import Situation
from windlass.cli.top.look import Look
from windlass.core.model import Failure, Job, Progress, QueueStats, Spec
from windlass.core.states import State
from windlass.core.stats import FINE, StatPoint
from windlass.core.workers import WorkerInfo

NOW = 1_800_000_000_000
"""The beginning of a bucket."""
HOUR = 3_600_000


def queue(name: str, *, paused: bool = False, **counts: int) -> QueueStats:
    return QueueStats(name, {State(state): number for state, number in counts.items()}, paused)


def worker(id: str, *queues: str, **more: Any) -> WorkerInfo:
    fields: dict[str, Any] = {"host": f"{id}.example.com", "pid": 4711, "concurrency": 10}
    fields |= {"started_at": NOW - HOUR, "seen_at": NOW - 3_000, "queues": queues or ("*",)}
    return WorkerInfo(id=id, **(fields | more))


def job(id: str, state: State, *, task: str = "send", queue: str = "mail", **more: Any) -> Job:
    fields: dict[str, Any] = {"priority": 50, "created_at": NOW - HOUR, "due": NOW - HOUR}
    if state is State.ACTIVE:
        fields |= {"started_at": NOW - 65_000, "worker": "w1", "attempt": 1}
    if state in (State.DEAD, State.RETRY):
        fields |= {"attempt": 2, "error": Failure("ValueError", "no such address", at=NOW - 9_000)}
    if state is State.DEAD:
        fields |= {"finished_at": NOW - 5_000}
    return Job(id, Spec(task, b"\x92\x90\x80"), queue, state, **(fields | more))


def points(**series: Sequence[int]) -> Sequence[StatPoint]:
    """Buckets of these counts; the last number of each is that of the present bucket."""
    length = max(len(numbers) for numbers in series.values())
    found = []
    for back in range(length):
        counts = {
            name: numbers[-1 - back] for name, numbers in series.items() if back < len(numbers)
        }
        found.append(StatPoint(NOW - back * FINE, "", counts))
    return found[::-1]


def look(
    *queues: QueueStats,
    workers: Sequence[WorkerInfo] = (),
    oldest: Mapping[str, int] | None = None,
    recent: Mapping[str, Mapping[str, int]] | None = None,
    now: int = NOW,
    **more: Any,
) -> Look:
    situation = Situation(
        now=now, queues=queues, workers=workers, oldest=oldest or {}, recent=recent or {}
    )
    return Look(situation=situation, **more)


def busy() -> Look:
    """A store at work, with something in each pane."""
    return look(
        queue("mail", pending=1_234, active=2, retry=1, dead=12_345),
        queue("reports", pending=3, paused=True),
        workers=[
            worker("w1", "mail:3", active=2),
            worker("w2", memory=123_456_789, quiet=True, completed=7, failed=1),
        ],
        oldest={"mail": NOW - 61_000, "reports": NOW - HOUR},
        active=[
            job("a1", State.ACTIVE, progress=Progress(45.4, "half\nway")),
            job("a2", State.ACTIVE, worker="gone", lease_until=NOW - 1),
        ],
        failed=[job("d1", State.DEAD), job("r1", State.RETRY, task="fetch")],
        points={
            "": points(completed=[10, 20, 30, 40, 50, 60, 90], failed=[0, 0, 0, 0, 0, 0, 6]),
            "mail": points(completed=[6, 6, 6, 6, 6, 6, 6]),
        },
    )
