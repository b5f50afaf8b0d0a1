"""`windlass worker --processes N`: who is started again, and who is told to stop."""

import os
import signal

import pytest

from tests.acceptance.process import until
from tests.acceptance.supervised import Ship, alive, stop
from windlass import State

TWO = ("--processes", "2", "--lease", "1", "--rescue-interval", "0.1")


def test_without_options_there_is_one_process_and_no_supervisor(ship: Ship) -> None:
    with ship.worker(interpreter=True) as worker:
        assert ship.working(1) == [worker.pid]
        assert ship.started() == []
        assert stop(worker) == 0


def test_each_process_is_a_worker_and_logs_with_its_id(ship: Ship) -> None:
    with ship.worker(*TWO, "--concurrency", "1", interpreter=True) as worker:
        pids = ship.working(2)
        assert sorted(pids) == sorted(ship.started())
        ship.enqueue("hold", [(0,), (1,)])
        until(lambda: all((ship.folder / f"held-{n}").exists() for n in (0, 1)), "both to be held")
        (ship.folder / "free").touch()
        assert {run.pid for run in ship.await_runs(2)} == set(pids)
        assert stop(worker) == 0
    assert "Traceback" not in ship.log()
    assert f"[{worker.pid}] windlass: process {pids[0]} ended with exit code 0" in ship.log()
    assert f"[{pids[0]}] windlass: worker" in ship.log()


def test_a_process_that_was_killed_is_started_again(ship: Ship) -> None:
    with ship.worker(*TWO) as worker:
        victim, witness = ship.working(2)
        os.kill(victim, signal.SIGKILL)
        heir = ship.working(3)[2]
        assert f"process {victim} was ended by SIGKILL" in ship.log()
        assert alive(witness)
        ship.enqueue("haul", [(n,) for n in range(10)])
        ship.await_runs(10)
        assert stop(worker) == 0
        assert not alive(heir)


def test_a_job_that_ends_its_process_does_not_keep_the_next_one_from_running(ship: Ship) -> None:
    with ship.worker("--max-jobs", "1000") as worker:
        (victim,) = ship.working(1)
        ship.enqueue("sink", [()])
        ship.await_log(rf"process {victim} ended with exit code 7")
        ship.enqueue("haul", [(1,)])
        assert ship.await_runs(1) == [(1, ship.working(2)[1])]
        assert stop(worker) == 0


def test_one_that_dies_at_the_start_again_and_again_is_started_ever_more_rarely(
    ship: Ship,
) -> None:
    ship.write("crew.py", "import os\nos._exit(3)\n")
    with ship.worker(*TWO) as worker:
        pauses = ship.await_log(r"starting another in (\S+) s", 4)
        assert pauses[:4] == ["0.1", "0.2", "0.4", "0.8"]
        assert len(ship.started()) <= 5, "only the first place is tried"
        assert stop(worker) == 0


@pytest.mark.parametrize(
    ("source", "sentence"),
    [
        ("import nothing_of_that_name", "The module crew cannot be imported: ModuleNotFoundError"),
        ("def broken(:", "The module crew cannot be imported: SyntaxError"),
        ("from windlass import Windlass\napp = Windlass()", "The app crew:app has no tasks"),
    ],
)
def test_an_app_that_cannot_run_is_told_in_one_sentence(
    ship: Ship, source: str, sentence: str
) -> None:
    ship.write("crew.py", source + "\n")
    with ship.worker(*TWO, "--log-level", "warning") as worker:
        assert worker.wait(40) == 1
    assert len(ship.log().splitlines()) == 1
    assert ship.log().startswith(f"windlass: {sentence}")


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_lets_running_jobs_finish(ship: Ship, number: int) -> None:
    with ship.worker(*TWO) as worker:
        ship.working(2)
        ship.enqueue("hold", [(1,)])
        until((ship.folder / "held-1").exists, "the job to start")
        worker.send_signal(number)
        ship.await_log("stopping", 3)
        ship.enqueue("haul", [(2,)])
        (ship.folder / "free").touch()
        assert worker.wait(40) == 0
        assert not any(map(alive, ship.started()))
    assert ship.site.counts() == {State.COMPLETED: 1, State.PENDING: 1}


def test_a_signal_to_every_process_at_once_is_no_second_one(ship: Ship) -> None:
    """As Ctrl-C in a terminal sends to a group, and a service manager to all that it started."""
    with ship.worker(*TWO) as worker:
        pids = ship.working(2)
        ship.enqueue("hold", [(1,)])
        until((ship.folder / "held-1").exists, "the job to start")
        os.killpg(worker.pid, signal.SIGINT)
        for pid in pids:
            os.kill(pid, signal.SIGTERM)
        ship.await_log("stopping", 3)
        (ship.folder / "free").touch()
        assert worker.wait(40) == 0
    assert ship.site.counts() == {State.COMPLETED: 1}
    assert ship.log().count("ended with exit code 0") == 2


def test_a_second_signal_ends_all_at_once_and_leaves_the_jobs_to_their_leases(ship: Ship) -> None:
    with ship.worker(*TWO) as worker:
        ship.working(2)
        ship.enqueue("hold", [(1,)])
        until((ship.folder / "held-1").exists, "the job to start")
        worker.send_signal(signal.SIGTERM)
        ship.await_log("stopping", 3)
        assert stop(worker) == 128 + signal.SIGTERM
        until(lambda: not any(map(alive, ship.started())), "its processes to be gone")
    (job,) = ship.site.find(State.ACTIVE)
    assert job.lease_until is not None


def test_processes_whose_supervisor_was_killed_stop_gracefully_by_themselves(ship: Ship) -> None:
    with ship.worker(*TWO) as worker:
        pids = ship.working(2)
        ship.enqueue("hold", [(1,)])
        until((ship.folder / "held-1").exists, "the job to start")
        worker.kill()
        ship.await_log("stopping", 2)
        assert any(map(alive, pids))
        (ship.folder / "free").touch()
        until(lambda: not any(map(alive, pids)), "its processes to be gone")
    assert ship.site.counts() == {State.COMPLETED: 1}
    assert len(ship.await_log(r"worker \S+ stopped", 2)) == 2


def test_one_that_does_not_stop_in_time_is_killed(ship: Ship) -> None:
    words = (*TWO, "--shutdown-timeout", "0", "--hook-timeout", "0")
    sooner = "from windlass.worker import supervisor; supervisor.GRACE = 1"
    with ship.worker(*words, first=sooner) as worker:
        victim, _ = ship.working(2)
        os.kill(victim, signal.SIGSTOP)
        assert stop(worker) == 0
        assert not alive(victim)
    assert f"process {victim} did not stop within 5 s; killing it" in ship.log()
    assert ship.log().count("ended with exit code 0") == 1


def test_it_stops_when_its_terminal_is_closed(ship: Ship) -> None:
    master, slave = os.openpty()
    with ship.worker(*TWO, terminal=slave) as worker:
        os.close(slave)
        pids = ship.working(2)
        os.close(master)
        assert worker.wait(40) == 0
        assert not any(map(alive, pids))
    assert ship.log().count("ended with exit code 0") == 2
