"""`windlass worker` as a process, the way that it is started from a shell."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).parents[1]


@contextmanager
def worker(url: str, *words: str) -> Iterator[subprocess.Popen[bytes]]:
    """A worker for the tasks in `jobs`; stopped at the end."""
    process = subprocess.Popen(
        [sys.executable, "-m", "windlass.cli.main", "worker", "benchmarks.jobs:app", *words],
        cwd=ROOT,
        env={**os.environ, "WINDLASS_URL": url},
        stderr=subprocess.DEVNULL,
    )
    try:
        yield process
    finally:
        process.terminate()
        process.wait()
