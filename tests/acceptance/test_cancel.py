"""Cancelling jobs that are running in another process."""

import signal

from tests.acceptance.process import Site, until
from windlass import State
from windlass.sync import drive


def test_a_worker_whose_job_was_cancelled_goes_on_with_the_next(site: Site) -> None:
    worker = site.worker(concurrency=1, lease=0.4)
    job = site.jobs.gate.using(id="job").enqueue("gate")
    until(lambda: site.runs("job"), "the job to start")
    job.cancel()
    site.jobs.note.using(id="next").enqueue()
    until(lambda: site.runs("next"), "the slot to be free again")
    site.await_state("next", State.COMPLETED)
    assert site.job("job").state is State.CANCELLED
    assert site.log(worker).count("job job: cancelled or taken over, stopping it") == 1


def test_a_job_cancelled_and_replayed_runs_anew_beside_its_old_attempt(site: Site) -> None:
    """The same worker may get it again before it has noticed that it lost it."""
    worker = site.worker(lease=30.0)
    job = site.jobs.gate.using(id="job").enqueue("gate")
    until(lambda: site.runs("job"), "the job to start")
    job.cancel()
    assert drive(site.store.replay(["job"])) == {"job"}
    until(lambda: len(site.runs("job")) == 2, "the job to start anew")
    old, new = site.runs("job")
    site.open_gate("gate", old.fence)
    until(lambda: "job: its lease was lost" in site.log(worker), "the old attempt to be refused")
    assert site.job("job").state is State.ACTIVE
    site.open_gate("gate", new.fence)
    done = site.await_state("job", State.COMPLETED)
    assert done.fence == new.fence
    worker.send_signal(signal.SIGTERM)
    assert site.end(worker) == 0
    assert "Traceback" not in site.log(worker)
