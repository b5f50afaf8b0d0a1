"""How soon a job of another process starts: it wakes the worker, nobody polls."""

import time
from pathlib import Path
from statistics import median

from tests.acceptance.process import Site, until
from tests.acceptance.process import site as open_site
from windlass import State
from windlass.worker.fetcher import LONGEST_WAIT

PROMPT = 2.0
"""Generous for a busy machine, and far below what a worker would sleep without a wake-up.

The median of several counts: not woken, each of them would be late, as it comes when the worker
has just begun to wait again; on a machine that stands still for a while, one of them may be.
"""

DELAY = 0.5


def waits(site: Site, number: int, delay: float = 0) -> list[float]:
    """How long each of so many jobs waited for its start, one after the other."""
    found = []
    for n in range(number):
        enqueued = time.time()
        site.jobs.note.using(id=str(n), delay=delay).enqueue()
        site.await_state(str(n), State.COMPLETED)
        [run] = site.runs(str(n))
        found.append(run.moment - enqueued)
    return found


def test_an_idle_worker_starts_a_job_of_another_process_promptly(site: Site) -> None:
    assert PROMPT < LONGEST_WAIT / 2
    site.worker()
    assert median(waits(site, 5)) < PROMPT


def test_a_delayed_job_of_another_process_starts_at_its_time(site: Site) -> None:
    site.worker()
    site.jobs.note.using(id="first").enqueue()
    site.await_state("first", State.COMPLETED)
    found = waits(site, 3, DELAY)
    assert min(found) >= DELAY
    assert median(found) < DELAY + PROMPT


def test_a_worker_may_be_there_before_the_file(tmp_path: Path) -> None:
    with open_site(tmp_path, made=False) as site:
        assert not (site.folder / "jobs.db").exists()
        site.worker()
        site.jobs.note.using(id="job").enqueue()
        until(lambda: site.runs("job"), "the job to start")
