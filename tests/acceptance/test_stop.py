"""Stopping a worker by a signal."""

import signal
import subprocess

import pytest

from tests.acceptance.process import Site, until
from windlass import State


def is_gone_after_another(number: signal.Signals, worker: subprocess.Popen[str]) -> bool:
    """To be asked again and again: of two signals sent at once a process sees one."""
    worker.send_signal(number)
    return worker.poll() is not None


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_what_runs_may_finish_and_what_was_claimed_ahead_goes_back_unharmed(
    site: Site, number: signal.Signals
) -> None:
    site.enqueue_quick_then_gated(30)
    worker = site.worker(concurrency=2)
    until(lambda: site.runs("1"), "two gated jobs to start")
    until(lambda: site.counts()[State.ACTIVE] > 2, "some more to be claimed ahead")
    worker.send_signal(number)
    until(lambda: "stopping: " in site.log(worker), "the worker to hear of it")
    until(lambda: site.counts()[State.PENDING] == 28, "what was claimed ahead to go back")
    assert worker.poll() is None
    assert [(job.id, job.attempt) for job in site.find(State.PENDING)] == [
        (str(n), 0) for n in range(2, 30)
    ]
    site.open_gate("gate")
    assert site.end(worker) == 0
    assert site.counts() == {State.COMPLETED: 42, State.PENDING: 28}
    assert [site.job(id).attempt for id in "01"] == [1, 1]


def test_what_takes_too_long_is_released_and_run_by_the_next_worker(site: Site) -> None:
    worker = site.worker(shutdown_timeout=0.2)
    site.jobs.gate.using(id="job").enqueue("gate")
    until(lambda: site.runs("job"), "the job to start")
    worker.send_signal(signal.SIGTERM)
    assert site.end(worker) == 0
    assert (site.job("job").state, site.job("job").attempt) == (State.PENDING, 0)
    site.open_gate("gate")
    site.worker()
    assert site.await_state("job", State.COMPLETED).attempt == 1


def test_a_second_signal_ends_a_worker_at_once_and_the_lease_recovers_its_job(site: Site) -> None:
    site.guardian()
    worker = site.worker()
    site.jobs.gate.using(id="job").enqueue("gate")
    until(lambda: site.runs("job"), "the job to start")
    until(lambda: is_gone_after_another(signal.SIGTERM, worker), "the worker to be gone")
    assert worker.returncode == 128 + signal.SIGTERM
    site.open_gate("gate")
    site.worker()
    assert site.await_state("job", State.COMPLETED).attempt == 1
    assert len(site.runs("job")) == 2
