"""Several workers and producers on one file at the same time."""

import signal
from collections import Counter

from tests.acceptance.process import Site, until
from windlass import State

PRODUCERS, EACH = 4, 600
FAIR = 0.10
"""Of an even share, a third for each of three workers, far less is still no starving."""


def test_every_job_runs_exactly_once_and_nobody_starves(site: Site) -> None:
    workers = [site.worker(concurrency=10, lease=30.0) for _ in range(3)]
    producers = [site.start("produce", name, EACH) for name in range(PRODUCERS)]
    assert [site.end(producer) for producer in producers] == [0] * PRODUCERS
    total = PRODUCERS * EACH
    until(lambda: site.counts() == {State.COMPLETED: total}, "every job to be completed")
    runs = site.runs()
    expected = {f"{name}-{n}" for name in range(PRODUCERS) for n in range(EACH)}
    assert len(runs) == total
    assert {run.id for run in runs} == expected
    assert {run.attempt for run in runs} == {1}
    shares = Counter(run.pid for run in runs)
    assert shares.keys() == {worker.pid for worker in workers}
    assert min(shares.values()) > FAIR * total, shares
    for worker in workers:
        worker.send_signal(signal.SIGTERM)
    assert [site.end(worker) for worker in workers] == [0, 0, 0]
    assert "locked" not in site.logs()
    assert "Traceback" not in site.logs()


def test_jobs_claimed_ahead_of_slow_ones_do_not_wait_for_them_while_a_worker_is_idle(
    site: Site,
) -> None:
    site.enqueue_quick_then_gated(2)
    site.jobs.app.enqueue_many([site.jobs.note.using(id=f"behind-{n}").call() for n in range(6)])
    site.worker(concurrency=2)
    until(lambda: len(site.runs()) == 42, "the gated jobs to take all slots")
    idle = site.worker(concurrency=2)
    behind = [f"behind-{n}" for n in range(6)]
    until(
        lambda: all(site.job(id).state is State.COMPLETED for id in behind),
        f"the idle worker to run {[id for id in behind if not site.runs(id)]}",
    )
    assert idle.poll() is None
    assert site.counts()[State.ACTIVE] == 2
