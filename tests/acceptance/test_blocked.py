"""A worker whose event loop a handler blocks: it says so, and is ended or replaced in time."""

import os
import signal
import subprocess
from contextlib import closing
from http.client import HTTPConnection

import pytest

from tests.acceptance.process import until
from tests.acceptance.supervised import Ship, alive, stop
from tests.servers.ports import free_port
from windlass import State

OFTEN = "from windlass.worker import presence; presence.BEAT = 0.1"
SOON = ("--lease", "2", "--shutdown-timeout", "1", "--hook-timeout", "0")
"""Blocked after a second, due after four."""


def test_what_was_claimed_and_not_started_goes_back_and_the_log_names_the_handler(
    ship: Ship,
) -> None:
    ship.enqueue("block", [(0, 3600)])
    ship.enqueue("haul", [(number,) for number in range(1, 11)])
    with ship.worker(*SOON, first=OFTEN) as blocked:
        ship.await_held(0)
        ship.await_log("the event loop works again|the event loop has been blocked")
        until(lambda: ship.job_states().get(State.PENDING) == 10, "the others to be given back")
        assert ship.job_states() == {State.ACTIVE: 1, State.PENDING: 10}
        until(lambda: "blocked" in ship.workers()[blocked.pid].fault, "the list to tell")
        with ship.worker(*SOON):
            assert len(ship.await_runs(10)) == 10
            until(lambda: ship.job_states().get(State.COMPLETED) == 10, "their ends to be written")
    log = ship.log()
    (job,) = ship.site.find(State.ACTIVE)
    assert f"by job {job.id} of block: no job of this worker starts or ends" in log
    assert 'crew.py", line' in log and "time.sleep(seconds)" in log
    assert log.count("the event loop has been blocked") == 1
    assert {job.attempt for job in ship.site.find(State.COMPLETED)} == {1}


def test_it_works_on_when_the_handler_lets_go(ship: Ship) -> None:
    ship.enqueue("block", [(0, 2)])
    ship.enqueue("haul", [(number,) for number in range(1, 11)])
    with ship.worker(*SOON, first=OFTEN) as worker:
        ship.await_log(r"the event loop works again, after \d")
        assert len(ship.await_runs(11)) == 11
        until(lambda: ship.workers()[worker.pid].fault == "", "the list to tell")
        assert stop(worker) == 0
    assert "Traceback" not in ship.log()
    assert ship.site.counts() == {State.COMPLETED: 11}
    assert {job.attempt for job in ship.site.find(State.COMPLETED)} == {1}


@pytest.mark.parametrize("task", ["block", "block_in_c"])
def test_sigterm_ends_it_in_time(ship: Ship, task: str) -> None:
    ship.enqueue("haul", [(number, 3600) for number in (1, 2)])
    ship.enqueue(task, [(0, 3600) if task == "block" else (0,)])
    with ship.worker(*SOON) as worker:
        ship.await_held(0)
        assert stop(worker) == 0
    assert "its process ends now" in ship.log()
    # What blocks is left to its lease, and its attempt counts; the others lost nothing.
    assert ship.site.counts() == {State.ACTIVE: 1, State.PENDING: 2}
    assert [job.attempt for job in ship.site.find(State.PENDING)] == [0, 0]


@pytest.mark.parametrize("task", ["block", "block_in_c"])
def test_a_second_sigterm_ends_it_at_once(ship: Ship, task: str) -> None:
    ship.enqueue(task, [(0, 3600) if task == "block" else (0,)])
    with ship.worker("--shutdown-timeout", "3600") as worker:
        ship.await_held(0)
        until(lambda: is_gone_after_another(worker), "the worker to be gone")
        assert worker.returncode == 128 + signal.SIGTERM


def is_gone_after_another(worker: subprocess.Popen[bytes]) -> bool:
    worker.send_signal(signal.SIGTERM)
    return worker.poll() is not None


def test_a_handler_that_waits_for_a_thread_of_its_own_does_not_hold_up_the_end(ship: Ship) -> None:
    numbers = range(40)  # more than there are such threads
    ship.enqueue("wait_for_thread", [(number,) for number in numbers])
    with ship.worker("--shutdown-timeout", "0.1", "--hook-timeout", "3600") as worker:
        for number in numbers:
            ship.await_held(number)
        assert stop(worker) == 0
    assert ship.site.counts() == {State.PENDING: len(numbers)}
    assert "stopped" in ship.log().splitlines()[-1]


def test_a_handler_that_catches_whatever_is_raised_does_not_hold_up_the_end(ship: Ship) -> None:
    """Even as its interpreter ends, and frees what is left."""
    ship.enqueue("go_on", [(0,)])
    with ship.worker("--shutdown-timeout", "0.1", interpreter=True) as worker:
        ship.await_held(0)
        assert stop(worker) == 0
    assert ship.site.counts() == {State.PENDING: 1}


def test_probes_tell(ship: Ship) -> None:
    port = free_port()
    ship.enqueue("block", [(0, 3600)])
    with ship.worker(*SOON, "--metrics-port", str(port)) as worker:
        ship.await_held(0)
        ship.await_log("the event loop has been blocked")
        assert page(port, "livez") == (200, "alive\n")
        status, text = page(port, "readyz")
        assert (status, text[:35]) == (503, "The event loop has been blocked for")
        until(lambda: page(port, "livez")[0] == 503, "the process not to be alive any more")
        assert stop(worker) == 0


def page(port: int, name: str) -> tuple[int, str]:
    connection = HTTPConnection("127.0.0.1", port, timeout=20)
    with closing(connection):
        connection.request("GET", f"/{name}")
        answer = connection.getresponse()
        return answer.status, answer.read().decode()


def test_its_supervisor_replaces_it(ship: Ship) -> None:
    once = ship.app.task(name="block", max_retries=0)(lambda *args: None)
    once.enqueue(0, 3600)
    ship.enqueue("haul", [(1,)])
    with ship.worker(*SOON, "--max-jobs", "1000") as worker:
        (old,) = ship.working(1)
        ship.await_log(
            rf"process {old} cannot work, the event loop has been blocked for \d+ s; "
            "another takes its place"
        )
        assert ship.await_runs(1) == [(1, ship.working(2)[1])]
        until(lambda: not alive(old), "the old one to be gone")
        # It was lost with its process, which counts as its only attempt.
        until(lambda: ship.site.counts()[State.DEAD] == 1, "the job that blocks to be dead")
        assert stop(worker) == 0
    assert len(ship.started()) == 2


def test_one_whose_threads_all_hang_says_so_and_is_replaced(ship: Ship) -> None:
    endless = ship.app.task(name="hang", max_retries=0, timeout=0.1)(lambda *args: None)
    with ship.worker(*SOON, "--max-jobs", "1000", "--threads", "1", first=OFTEN) as worker:
        (old,) = ship.working(1)
        ship.app.enqueue_many([endless.call(number) for number in range(11)])
        ship.await_log("No thread is left for blocking handlers: 11 were stopped")
        until(lambda: "No thread" in ship.workers()[old].fault, "the list to tell")
        ship.await_log(rf"process {old} cannot work, no thread is left .*another takes its place")
        new = ship.working(2)[1]
        until(lambda: not alive(old), "the old one to be gone")
        until(lambda: ship.workers().keys() == {new}, "the new one alone to be listed")
        assert stop(worker) == 0
    assert 'crew.py", line' in ship.log() and "time.sleep(3600)" in ship.log()
    assert ship.site.counts() == {State.DEAD: 11}


def test_a_process_that_says_nothing_any_more_is_replaced(ship: Ship) -> None:
    with ship.worker(*SOON, "--max-jobs", "1000") as worker:
        (old,) = ship.working(1)
        ship.enqueue("haul", [(1,)])
        ship.await_runs(1)  # it has told that it is ready
        os.kill(old, signal.SIGSTOP)
        ship.await_log(rf"process {old} was not heard of for \d+ s; another takes its place")
        ship.enqueue("haul", [(2,)])
        assert ship.await_runs(2)[1] == (2, ship.working(2)[1])
        until(lambda: not alive(old), "the old one to be killed")
        assert stop(worker) == 0
