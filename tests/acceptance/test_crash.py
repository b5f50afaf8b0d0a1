"""Workers that die or freeze in the middle of a job."""

import signal
import subprocess

from tests.acceptance.process import Site, until
from windlass import State


def test_a_job_whose_worker_was_killed_is_run_again_by_another(site: Site) -> None:
    site.guardian()
    victim = site.worker()
    site.jobs.gate.using(id="job").enqueue("gate")
    until(lambda: site.runs("job"), "the job to start")
    victim.send_signal(signal.SIGKILL)
    assert site.end(victim) == -signal.SIGKILL
    heir = site.worker()
    until(lambda: len(site.runs("job")) == 2, "the job to start again")
    site.open_gate("gate")
    done = site.await_state("job", State.COMPLETED)
    first, second = site.runs("job")
    assert (first.pid, first.attempt) == (victim.pid, 1)
    assert (second.pid, second.attempt) == (heir.pid, 1)
    assert (done.attempt, done.fence) == (1, second.fence)
    assert second.fence > first.fence
    assert site.jobs.gate.handle("job").result() == heir.pid


def test_a_job_that_kills_every_worker_ends_dead_and_takes_no_other_with_it(site: Site) -> None:
    site.guardian()
    workers = [site.worker(concurrency=1) for _ in range(4)]
    site.jobs.fell.using(id="killer").enqueue()
    dead = site.await_state("killer", State.DEAD)
    assert [run.attempt for run in site.runs("killer")] == [1, 1, 1]
    assert (dead.attempt, dead.lost) == (0, 3)
    assert dead.error is not None
    assert dead.error.kind == "LeaseExpired"
    # Three runs, three workers: the fourth is unharmed and goes on.
    until(lambda: sum(worker.poll() is None for worker in workers) == 1, "three workers to be gone")
    site.jobs.note.using(id="next").enqueue()
    site.await_state("next", State.COMPLETED)


def gated_and_active(site: Site) -> int:
    """Quick jobs are active too until what they came to is written."""
    return sum(job.id.isdigit() for job in site.find(State.ACTIVE))


def test_jobs_claimed_ahead_are_not_lost_with_their_worker(site: Site) -> None:
    site.guardian()
    site.enqueue_quick_then_gated(30)
    victim = site.worker(concurrency=2)
    until(lambda: site.runs("1"), "two gated jobs to start")
    until(lambda: gated_and_active(site) > 2, "some more to be claimed ahead")
    victim.send_signal(signal.SIGKILL)
    site.end(victim)
    held = gated_and_active(site)
    site.open_gate("gate")
    site.worker()
    until(lambda: site.counts() == {State.COMPLETED: 70}, "all jobs to be completed")
    assert {site.job(str(n)).attempt for n in range(30)} == {1}
    lost = [site.job(str(n)).error is not None for n in range(30)]
    assert lost == [True] * held + [False] * (30 - held)


def test_a_leader_that_was_killed_is_replaced_and_its_jobs_are_rescued(site: Site) -> None:
    leader = site.worker()
    site.jobs.gate.using(id="job").enqueue("gate")
    until(lambda: site.runs("job"), "the job to start")
    site.worker()
    leader.send_signal(signal.SIGKILL)
    site.open_gate("gate")
    assert site.await_state("job", State.COMPLETED).attempt == 1


def freeze_and_replace(site: Site) -> tuple[subprocess.Popen[str], subprocess.Popen[str]]:
    """A worker that was frozen in the middle of a job, and the one that has the job now."""
    site.guardian()
    frozen = site.worker()
    site.jobs.gate.using(id="job").enqueue("gate")
    until(lambda: site.runs("job"), "the job to start")
    site.freeze(frozen)
    heir = site.worker()
    until(lambda: len(site.runs("job")) == 2, "the job to start again")
    return frozen, heir


def gave_up(site: Site, worker: subprocess.Popen[str]) -> bool:
    """Whichever is first when it wakes: its answer that is refused, or its heartbeat."""
    log = site.log(worker)
    return "job: its lease was lost" in log or "job: cancelled or taken over" in log


def test_a_frozen_worker_that_wakes_cannot_end_the_job_of_the_new_owner(site: Site) -> None:
    frozen, heir = freeze_and_replace(site)
    first, second = site.runs("job")
    # Awake again it finds its own gate open: whatever its run comes to, it is too late.
    site.open_gate("gate", first.fence)
    frozen.send_signal(signal.SIGCONT)
    until(lambda: gave_up(site, frozen), "the frozen worker to learn of its loss")
    held = site.job("job")
    assert (held.state, held.fence, held.result) == (State.ACTIVE, second.fence, None)
    site.open_gate("gate", second.fence)
    assert site.await_state("job", State.COMPLETED).attempt == 1
    assert site.jobs.gate.handle("job").result() == heir.pid
    assert len(site.runs("job")) == 2


def test_a_frozen_worker_that_wakes_changes_nothing_of_a_job_that_is_done(site: Site) -> None:
    frozen, heir = freeze_and_replace(site)
    site.open_gate("gate")
    done = site.await_state("job", State.COMPLETED)
    frozen.send_signal(signal.SIGCONT)
    until(lambda: gave_up(site, frozen), "the frozen worker to learn of its loss")
    assert site.job("job") == done
    assert site.jobs.gate.handle("job").result() == heir.pid
    heir.send_signal(signal.SIGKILL)
    site.jobs.note.using(id="next").enqueue()
    site.await_state("next", State.COMPLETED)
    assert site.runs("next")[0].pid == frozen.pid


def test_a_worker_that_claims_its_own_lost_job_again_holds_the_new_lease(site: Site) -> None:
    site.guardian()
    frozen = site.worker()
    site.jobs.gate.using(id="job").enqueue("gate")
    until(lambda: site.runs("job"), "the job to start")
    site.freeze(frozen)
    # Rescued, and no other worker serves the queue: this one gets it again.
    site.await_state("job", State.RETRY)
    frozen.send_signal(signal.SIGCONT)
    until(lambda: len(site.runs("job")) == 2, "the job to start again")
    second = site.job("job")
    until(lambda: site.job("job").lease_until != second.lease_until, "the lease to be renewed")
    assert site.job("job").fence == second.fence
    site.open_gate("gate")
    assert site.await_state("job", State.COMPLETED).fence == second.fence
    frozen.send_signal(signal.SIGTERM)
    assert site.end(frozen) == 0
    assert "Traceback" not in site.log(frozen)
    assert [run.attempt for run in site.runs("job")] == [1, 1]
