"""Large payloads never make a worker large, however many wait and however many slots it has."""

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.acceptance.conftest import Fresh
from tests.acceptance.weighty import MEGABYTE, Jobs, jobs
from windlass import Task, Windlass
from windlass.core.states import State

PROGRAM = Path(__file__).with_name("weighty.py")
NUMBER = int(os.environ.get("WINDLASS_TEST_LARGE_JOBS", "100"))
"""As many as a worker claims at once by number alone; 1,200 make no difference."""

MOST = 180
"""MiB of memory. A worker that holds the payloads of all its slots takes 230 and more."""

LARGEST = 256
"""With results: those of all slots may be there at once, for the handlers have made them."""

ON_EACH = pytest.mark.parametrize(
    "kind", ["sqlite", "redis_server", "postgres_server", "mariadb_server"]
)


@ON_EACH
def test_a_worker_stays_small_with_many_large_jobs_waiting(fresh: Fresh, kind: str) -> None:
    url = fresh(kind)
    app, quick, heavy, *_ = jobs(url)
    app.enqueue_many([quick.call() for _ in range(200)])
    fill(app, heavy)
    assert worked(url, 200 + NUMBER // 10 * 10) < MOST
    app.close()


# What a claim gives of a batch is in the suite for stores.
@pytest.mark.parametrize("kind", ["sqlite", "redis_server"])
def test_a_worker_stays_small_with_batches_of_large_jobs(fresh: Fresh, kind: str) -> None:
    url = fresh(kind)
    made = jobs(url)
    fill(made.app, made.together)
    assert worked(url, NUMBER // 10 * 10) < MOST
    made.app.close()


def test_a_worker_stays_small_that_takes_over_many_large_jobs(fresh: Fresh) -> None:
    url = fresh("sqlite")
    made = jobs(url)
    fill(made.app, made.heavy)
    lose(made)
    assert worked(url, NUMBER // 10 * 10) < MOST
    made.app.close()


def test_a_worker_stays_small_whose_jobs_have_large_results(fresh: Fresh) -> None:
    url = fresh("sqlite")
    made = jobs(url)
    made.app.enqueue_many([made.answers.call() for _ in range(NUMBER)])
    assert worked(url, NUMBER) < LARGEST
    made.app.close()


def fill(app: Windlass, task: Task[..., Any, Any]) -> None:
    for _ in range(NUMBER // 10):
        app.enqueue_many([task.call(os.urandom(MEGABYTE)) for _ in range(10)])


def lose(made: Jobs) -> None:
    """Have all jobs claimed by a worker that does nothing with them, and is gone."""

    def claim() -> int:
        asked = made.app.client.block(lambda s: s.claim({"default": 100}, 100, 1, "gone"), "", "")
        return len(asked)

    while claim():
        pass


def worked(url: str, number: int) -> int:
    """How many MiB a worker took that has completed so many jobs."""
    # An interpreter of its own: one that is forked has the memory of its parent.
    command = [sys.executable, "-P", str(PROGRAM), url]
    worker = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    assert worker.returncode == 0, worker.stderr
    app = jobs(url).app
    counts = {q.name: q.counts for q in app.client.block(lambda s: s.queues(), "", "")}
    app.close()
    assert counts == {"default": {State.COMPLETED: number}}
    return int(worker.stdout)
