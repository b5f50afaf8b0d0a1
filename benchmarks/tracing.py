"""What a worker pays for traces that nobody records, and for lines that are kept.

Processor time of the worker for a job that does nothing, on Redis: the cheapest there is, so that
whatever is added shows. In turns, in one run.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterator
from statistics import median

import uvloop
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.sampling import ALWAYS_OFF, ParentBased, TraceIdRatioBased

from windlass import Windlass
from windlass.observe.tracing import Tracing
from windlass.testing.work import until

from .jobs import nothing
from .process import isolated
from .redis_server import clear, serving
from .table import Goal, Line

NUMBER = 10_000
BATCH = 1_000
ROUNDS = 15


def lines() -> Iterator[Line]:
    ways: dict[str, tuple[bool, Callable[[str], float]]] = {
        "bare": (False, bare),
        "carrying": (True, bare),
        "without a provider": (False, unprovided),
        "unsampled": (True, unsampled),
        "untraced": (False, untraced),
        "logging": (False, logging_),
    }
    found: dict[str, list[float]] = {name: [] for name in ways}
    with serving() as url:
        for _ in range(ROUNDS):
            for name, (traced, way) in ways.items():
                clear(url)
                isolated(fill, url, traced)
                found[name].append(isolated(way, url))
    yield _ratio("tracing: a worker without a provider", found, "without a provider", 1.10)
    yield _ratio("tracing: a worker, unsampled", found, "unsampled", 1.25)
    yield _ratio("tracing: of that, the headers of the jobs", found, "carrying", 1.25)
    yield _ratio("tracing: a worker, jobs that came without a trace", found, "untraced", 1.25)
    yield _ratio("logs: a worker whose jobs log a line", found, "logging", 4.0)


def _ratio(name: str, found: dict[str, list[float]], ours: str, most: float) -> Line:
    pairs = zip(found[ours], found["bare"], strict=True)
    detail = f"{ours} {median(found[ours]):.1f} µs, bare {median(found['bare']):.1f} µs for a job"
    return Line(name, median(a / b for a, b in pairs), "×", detail, Goal("at most", most))


def provider() -> TracerProvider:
    return TracerProvider(sampler=ParentBased(ALWAYS_OFF))


def fill(url: str, traced: bool) -> None:
    """Enqueue jobs, within a trace that is not recorded."""
    app, traces = Windlass(url), provider()
    task = app.task(nothing)
    if traced:
        app.observe(Tracing(traces))
    with traces.get_tracer("bench").start_as_current_span("request"):
        for start in range(0, NUMBER, BATCH):
            app.enqueue_many(task.call(n, "ada@example.org") for n in range(start, start + BATCH))
    app.close()


def bare(url: str) -> float:
    """Microseconds for a job, without tracing in the worker."""
    return uvloop.run(drained(Windlass(url)))


def unprovided(url: str) -> float:
    """The same, with tracing and nowhere for spans to go."""
    app = Windlass(url)
    app.observe(Tracing())
    return uvloop.run(drained(app))


def unsampled(url: str) -> float:
    """The same, with the real SDK, which records none of it."""
    app = Windlass(url)
    app.observe(Tracing(provider()))
    return uvloop.run(drained(app))


def untraced(url: str) -> float:
    """The same, where each job begins a trace that the sampler does not keep."""
    app = Windlass(url)
    app.observe(Tracing(TracerProvider(sampler=ParentBased(TraceIdRatioBased(0.0)))))
    return uvloop.run(drained(app))


def logging_(url: str) -> float:
    """The same, with a line of each job that is kept."""
    log = logging.getLogger("bench")
    log.setLevel(logging.INFO)
    return uvloop.run(drained(Windlass(url), log))


async def drained(app: Windlass, log: logging.Logger | None = None) -> float:
    ran: list[int] = []

    async def run(user_id: int, email: str) -> None:
        ran.append(user_id)
        if log is not None:
            log.info("mail to user %d", user_id)

    app.task(name=nothing.__name__)(run)
    worker = await app.worker()
    used = time.process_time()
    await worker.start()
    await until(lambda: len(ran) >= NUMBER, 120)
    await worker.stop()
    used = time.process_time() - used
    await app.aclose()
    return 1e6 * used / len(ran)
