"""Large payloads never make a worker large, however many wait and however many slots it has."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.acceptance.conftest import Fresh
from tests.acceptance.weighty import MEGABYTE, jobs
from windlass.core.states import State

PROGRAM = Path(__file__).with_name("weighty.py")
NUMBER = int(os.environ.get("WINDLASS_TEST_LARGE_JOBS", "100"))
"""As many as a worker claims at once by number alone; 1,200 make no difference."""

MOST = 180
"""MiB of memory. A worker that holds the payloads of all its slots takes 230 and more."""


@pytest.mark.parametrize("kind", ["sqlite", "redis_server", "postgres_server", "mariadb_server"])
def test_a_worker_stays_small_with_many_large_jobs_waiting(fresh: Fresh, kind: str) -> None:
    url = fresh(kind)
    app, quick, heavy = jobs(url)
    app.enqueue_many([quick.call() for _ in range(200)])
    for _ in range(NUMBER // 10):
        app.enqueue_many([heavy.call(os.urandom(MEGABYTE)) for _ in range(10)])
    # An interpreter of its own: one that is forked has the memory of its parent.
    command = [sys.executable, "-P", str(PROGRAM), url]
    worker = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    assert worker.returncode == 0, worker.stderr
    counts = {q.name: q.counts for q in app.client.block(lambda s: s.queues(), "", "")}
    assert counts == {"default": {State.COMPLETED: 200 + NUMBER // 10 * 10}}
    assert int(worker.stdout) < MOST, f"{worker.stdout} MiB"
    app.close()
