"""A worker has no more threads, descriptors and memory after many jobs than before.

In full: python -m benchmarks leaks
"""

from collections.abc import Callable
from pathlib import Path

import pytest

from benchmarks.leaks import FEW, SMALL, Change, timed_out, worked
from benchmarks.process import isolated
from tests.worker.database import copied_to
from windlass.worker.memory import MIB


@pytest.mark.parametrize(("act", "number"), [(worked, 10_000), (timed_out, 300)])
def test_a_worker_leaves_nothing_of_jobs_that_have_ended(
    act: Callable[[str, int], Change], number: int, tmp_path: Path
) -> None:
    before, after = isolated(act, copied_to(tmp_path / "jobs.db"), number)
    assert after.threads <= before.threads + FEW
    assert after.descriptors <= before.descriptors + FEW
    assert after.memory <= before.memory + SMALL * MIB
