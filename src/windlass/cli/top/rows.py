"""The rows of each pane, computed from a look. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from ...admin.attention import Attention, attention
from ...admin.moment import span
from ...core.model import Job, QueueStats
from ...core.states import State
from ...core.stats import COMPLETED
from ...core.workers import WorkerInfo
from .frame import Style, clean
from .look import Look, failed_at
from .pane import Pane, Row
from .sparkline import BARS, rate, short, size, sparkline
from .table import Cell, Column

LONGEST: Final = 500
"""Of a text that may be of any length, so many characters are shown at most."""

SPARK: Final = 10
TIME: Final = len("59 min")

KIND_WORDS: Final = {
    "upkeep": "no upkeep",
    "no_worker": "no worker",
    "old": "waiting",
    "dead": "dead",
    "failing": "failing",
    "cron": "cron",
    "paused": "paused",
}
_SHOWN_STATES: Final = (
    (State.PENDING, 0),
    (State.ACTIVE, 0),
    (State.SCHEDULED, 5),
    (State.RETRY, 2),
    (State.DEAD, 1),
    (State.BLOCKED, 6),
    (State.COMPLETED, 7),
    (State.CANCELLED, 8),
)
"""States in the order of their columns, each with its rank."""


def alerts(look: Look) -> Pane:
    found = attention(look.situation)
    columns = (Column(f"Attention {len(found) or ''}".strip()), Column("", least=20))
    return Pane("alerts", columns, [_alert(each) for each in found], "nothing needs attention")


def _alert(each: Attention) -> Row:
    style = Style.WARN if each.kind in ("paused", "old") else Style.BAD
    word = Cell(KIND_WORDS[each.kind], style)
    return Row(alert_key(each), (word, Cell(_text(each.text))))


def alert_key(each: Attention) -> str:
    return f"{each.kind} {each.schedule or each.queue or ''}"


def queues(look: Look, bars: str = BARS) -> Pane:
    found = look.situation.queues
    columns = (
        Column(f"Queues {len(found):,}", least=10),
        *(Column(state.value, right=True, rank=rank) for state, rank in _SHOWN_STATES),
        Column("oldest", right=True, rank=1, usual=TIME),
        Column("rate", right=True, rank=1, usual=6),
        Column(" " * SPARK, rank=3),
        Column("workers", right=True),
    )
    return Pane("queues", columns, [_queue(queue, look, bars) for queue in found], "no queues yet")


def _queue(queue: QueueStats, look: Look, bars: str) -> Row:
    name = queue.name
    counts = [_count(state, queue.counts.get(state, 0)) for state, _ in _SHOWN_STATES]
    since = look.situation.oldest.get(name)
    speed, spark = "", ""
    if look.has_rate(name):
        speed = rate(look.rate(COMPLETED, name))
        spark = sparkline(look.series(COMPLETED, SPARK, name), bars)
    cells = (
        Cell(clean(name)),
        *counts,
        Cell("" if since is None else span(look.now - since)),
        Cell(speed),
        Cell(spark, Style.GOOD),
        _served(queue, look),
    )
    return Row(name, cells, paused=queue.paused)


def _count(state: State, number: int) -> Cell:
    style = Style.BAD if state is State.DEAD and number else Style.PLAIN
    return Cell(short(number), style if number else Style.DIM)


def _served(queue: QueueStats, look: Look) -> Cell:
    if queue.paused:
        return Cell("paused", Style.WARN)
    serving = look.situation.serving[queue.name]
    return Cell(f"{len(serving):,}") if serving else Cell("none", Style.WARN)


def workers(look: Look) -> Pane:
    found = look.situation.workers
    columns = (
        Column(f"Workers {len(found):,}", least=12),
        Column("pid", right=True),
        Column("queues", least=8),
        Column("busy", right=True, usual=5),
        Column("memory", right=True, rank=2),
        Column("up", right=True, rank=3, usual=TIME),
        Column("heard of", right=True, rank=4),
        Column("completed", right=True, rank=6),
        Column("failed", right=True, rank=5),
        Column("", least=8, rank=1),
    )
    return Pane("workers", columns, [_worker(each, look) for each in found], "none is heard of")


def _worker(worker: WorkerInfo, look: Look) -> Row:
    full = worker.active >= worker.concurrency
    cells = (
        Cell(clean(worker.host)),
        Cell(str(worker.pid)),
        Cell(_text(",".join(worker.queues))),
        Cell(f"{worker.active}/{worker.concurrency}", Style.WARN if full else Style.PLAIN),
        Cell(size(worker.memory) if worker.memory else ""),
        Cell(span(look.now - worker.started_at)),
        Cell(f"{span(look.now - worker.seen_at)} ago"),
        Cell(short(worker.completed)),
        Cell(short(worker.failed)),
        Cell(_text(worker.fault), Style.BAD)
        if worker.fault
        else Cell("" if worker.claims else "quiet", Style.WARN),
    )
    return Row(worker.id, cells)


def active(look: Look) -> Pane:
    total = sum(queue.counts.get(State.ACTIVE, 0) for queue in look.situation.queues)
    known = {worker.id: worker for worker in look.situation.workers}
    columns = (
        Column(f"Active {total:,}", least=14),
        Column("queue", least=8),
        Column("worker", least=8, rank=2),
        Column("runs", right=True, rank=3),
        Column("since", right=True, usual=TIME),
        Column("progress", least=8, rank=1),
        Column("job", rank=9),
    )
    rows = [_active(job, known.get(job.worker or ""), look.now) for job in look.active]
    return Pane("active", columns, rows, "nothing is running")


def _active(job: Job, worker: WorkerInfo | None, now: int) -> Row:
    where = f"{worker.host}:{worker.pid}" if worker is not None else job.worker or ""
    lost = job.lease_until is not None and job.lease_until <= now
    cells = (
        Cell(_text(job.task)),
        Cell(clean(job.queue)),
        Cell("lost" if lost else _text(where), Style.BAD if lost else Style.PLAIN),
        Cell(f"{job.attempt}/{job.spec.max_retries + 1}"),
        Cell(span(now - (job.started_at or now))),
        Cell(_progress(job)),
        Cell(clean(job.id), Style.DIM),
    )
    return Row(job.id, cells, job.id)


def _progress(job: Job) -> str:
    progress = job.progress
    return "" if progress is None else _text(f"{progress.percent:.0f} % {progress.message}").strip()


def errors(look: Look) -> Pane:
    dead = sum(queue.counts.get(State.DEAD, 0) for queue in look.situation.queues)
    columns = (
        Column(f"Errors, {dead:,} dead", least=14),
        Column("queue", least=8, rank=2),
        Column("state", rank=1),
        Column("runs", right=True, rank=4),
        Column("ago", right=True, usual=TIME),
        Column("error", least=20),
        Column("job", rank=9),
    )
    rows = [_error(job, look.now) for job in look.failed]
    return Pane("errors", columns, rows, "nothing has failed")


def _error(job: Job, now: int) -> Row:
    dead = job.state is State.DEAD
    cells = (
        Cell(_text(job.task)),
        Cell(clean(job.queue)),
        Cell(job.state.value, Style.BAD if dead else Style.WARN),
        Cell(f"{job.attempt}/{job.spec.max_retries + 1}"),
        Cell(span(max(now - failed_at(job), 0))),
        Cell(_text(str(job.error or ""))),
        Cell(clean(job.id), Style.DIM),
    )
    return Row(job.id, cells, job.id)


def panes(look: Look, bars: str = BARS) -> Sequence[Pane]:
    """All of them, in the order in which they are shown."""
    return alerts(look), queues(look, bars), active(look), workers(look), errors(look)


def _text(text: str) -> str:
    return clean(" ".join(text[:LONGEST].split()))
