"""Processes that die under a supervisor: their jobs run again at once, not after their leases."""

import os
import signal
import time

import pytest

from tests.acceptance.conftest import Fresh
from tests.acceptance.process import Site, until
from tests.acceptance.supervised import Ship, stop
from windlass import State
from windlass.core.workers import WorkerInfo

SOON = 10.0
"""Seconds; it is well below 2 on an idle machine, and a lease takes 30."""


@pytest.mark.parametrize("processes", [1, 2])
@pytest.mark.parametrize("kind", ["sqlite", "redis_server", "postgres_server", "mariadb_server"])
def test_jobs_of_a_killed_process_run_again_at_once(
    site: Site, fresh: Fresh, kind: str, processes: int
) -> None:
    """Whether it was the leader or not; a lone one always is."""
    ship = Ship(site, fresh(kind))
    numbers = range(3 * processes)
    words = ("--processes", str(processes), "--max-jobs", "1000", "--concurrency", "3")
    with ship.worker(*words) as worker:
        victim = ship.working(processes)[0]
        lost = next(each.id for pid, each in listed(ship, processes).items() if pid == victim)
        ship.enqueue("hold", [(number,) for number in numbers])
        for number in numbers:
            ship.await_held(number)
        os.kill(victim, signal.SIGKILL)
        began = time.monotonic()
        until(lambda: len(list(ship.folder.glob("held-*"))) == 3, "its three jobs to run again")
        assert time.monotonic() - began < SOON
        assert lost not in {each.id for each in ship.workers().values()}
        (ship.folder / "free").touch()
        ship.await_runs(len(numbers))
        assert stop(worker) == 0
        assert ship.job_states() == {State.COMPLETED: len(numbers)}
    assert sorted(run.number for run in ship.runs()) == list(numbers), "each ended once"
    assert f"the jobs of worker {lost}, which has died, may run again" in ship.log()


def listed(ship: Ship, number: int) -> dict[int, WorkerInfo]:
    until(lambda: len(ship.workers()) == number, "all of them to be on the list")
    return ship.workers()
