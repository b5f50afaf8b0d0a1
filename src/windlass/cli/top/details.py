"""All that is known of one row, as lines; of a job, what a look has brought."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from ...admin.attention import Attention, attention
from ...admin.moment import iso, span
from ...core.model import QueueStats
from ...core.states import State
from ...core.stats import COMPLETED, FAILED, Timed, percentile, summed
from ...core.workers import WorkerInfo
from .look import Look
from .rows import KIND_WORDS, alert_key
from .sparkline import rate, size
from .ui import Open

LOADING: Final = ("It is being looked up.",)


def details(look: Look, opened: Open) -> Sequence[str]:
    """The lines on the row that is open."""
    if opened.job is not None:
        job = look.opened
        return job.lines if job is not None and job.id == opened.job else LOADING
    found, key = look.situation, opened.key
    match opened.pane:
        case "queues":
            known = [_queue(queue, look) for queue in found.queues if queue.name == key]
        case "workers":
            known = [_worker(worker, look) for worker in found.workers if worker.id == key]
        case _:
            known = [_alert(each) for each in attention(found) if alert_key(each) == key]
    return [*known[0]] if known else ("It is gone.",)


def _alert(each: Attention) -> Iterator[str]:
    yield KIND_WORDS[each.kind]
    yield ""
    yield each.text


def _queue(queue: QueueStats, look: Look) -> Iterator[str]:
    yield _fact("queue", queue.name)
    yield _fact("paused", "yes" if queue.paused else "no")
    for state in State:
        yield _fact(state.value, f"{queue.counts.get(state, 0):,}")
    since = look.situation.oldest.get(queue.name)
    if since is not None:
        yield _fact("oldest", f"has been waiting for {span(look.now - since)}")
    if look.has_rate(queue.name):
        done, failed = (look.rate(name, queue.name) for name in (COMPLETED, FAILED))
        yield _fact("rate", f"{rate(done)} completed, {rate(failed)} failed")
        yield from _times(look, queue.name)
    serving = look.situation.serving[queue.name]
    yield _fact("workers", f"{len(serving):,}")
    for worker in serving:
        yield _fact("", f"{worker.host}:{worker.pid} {worker.id}")


def _times(look: Look, queue: str) -> Iterator[str]:
    """How long jobs took and had to wait, in the time that the bars show."""
    counts = summed(look.points[queue])
    kinds: tuple[tuple[Timed, str], ...] = (("run", "runs took"), ("wait", "jobs waited"))
    for what, words in kinds:
        half, most = (percentile(counts, what, share) for share in (0.5, 0.95))
        if half is not None and most is not None:
            yield _fact(what, f"half of the {words} {half:.2g} s at most, 95 % {most:.2g} s")


def _worker(worker: WorkerInfo, look: Look) -> Iterator[str]:
    yield _fact("worker", worker.id)
    yield _fact("host", worker.host)
    yield _fact("pid", str(worker.pid))
    yield _fact("queues", ", ".join(worker.queues))
    yield _fact("slots", f"{worker.active} of {worker.concurrency} busy")
    if worker.threads:
        yield _fact("threads", f"{worker.in_threads} of {worker.threads} busy")
    if worker.memory:
        yield _fact("memory", size(worker.memory))
    if worker.fault:
        yield _fact("fault", worker.fault)
    yield _fact("completed", f"{worker.completed:,}; {worker.failed:,} attempts failed")
    if not worker.claims:
        yield _fact("quiet", "it claims no more jobs")
    yield _fact("started", f"{iso(worker.started_at)} ({span(look.now - worker.started_at)} ago)")
    yield _fact("heard of", f"{span(look.now - worker.seen_at)} ago")
    yield ""
    held = [job for job in look.active if job.worker == worker.id]
    yield _fact("active", f"{len(held):,} of the jobs that are listed")
    for job in held:
        yield _fact("", f"{job.task} {job.id}, {span(look.now - (job.started_at or look.now))}")


def _fact(name: str, text: str) -> str:
    return f"{name:<10} {text}".rstrip()
