"""The metrics of a worker with several processes: one port, and no counter goes back."""

import os
import re
import signal
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.acceptance.process import site, until
from tests.acceptance.supervised import Ship, stop
from tests.servers.ports import free_port

SLOTS = 4
THREADS = 3
ALL = 2 * (SLOTS + THREADS)
"""of two processes, for async and for blocking handlers"""


@pytest.fixture
def ship(tmp_path: Path) -> Iterator[Ship]:
    with site(tmp_path) as place:
        yield Ship(place)


def page(port: int, path: str) -> str:
    """What is there, or nothing while nobody answers or it is not ready."""
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}{path}", timeout=20) as answer:
            text: str = answer.read().decode()
            return text
    except urllib.error.URLError:
        return ""


def value(port: int, name: str) -> float:
    """The sum of a metric over all its labels."""
    found = re.findall(rf"^windlass_{name}(?:\{{.*\}})? (\S+)$", page(port, "/metrics"), re.M)
    return sum(map(float, found))


def test_one_port_tells_of_all_processes_and_of_those_that_are_gone(ship: Ship) -> None:
    port = free_port()
    words = ["--processes", "2", "--concurrency", str(SLOTS), "--threads", str(THREADS)]
    words += ["--metrics-port", str(port)]
    with ship.worker(*words, "--lease", "1", "--rescue-interval", "0.1") as worker:
        victim, _ = ship.working(2)
        until(lambda: page(port, "/readyz") == "ready\n", "the worker to be ready")
        until(lambda: value(port, "worker_slots") == ALL, "the slots of both")
        until(lambda: value(port, "leader") == 1, "a leader")
        ship.enqueue("haul", [(n,) for n in range(20)])
        until(lambda: value(port, "jobs_completed_total") == 20, "20 jobs to be told")
        os.kill(victim, signal.SIGKILL)
        ship.working(3)
        assert value(port, "jobs_completed_total") == 20
        ship.enqueue("haul", [(n,) for n in range(5)])
        until(lambda: value(port, "jobs_completed_total") == 25, "5 more to be told")
        assert value(port, "job_run_seconds_count") == 25
        ship.enqueue("haul", [(n,) for n in range(5)])
        ship.await_runs(30)
        worker.send_signal(signal.SIGHUP)
        ship.await_log("ended with exit code 0", 2)
        until(lambda: value(port, "worker_slots") == ALL, "the slots of their successors")
        assert value(port, "jobs_completed_total") == 30, "their last words were heard"
        assert stop(worker) == 0
    assert page(port, "/livez") == ""


def test_a_port_that_is_taken_is_told_in_one_sentence(ship: Ship) -> None:
    port = free_port()
    with ship.worker("--metrics-port", str(port)):
        until(lambda: page(port, "/livez") == "alive\n", "the first worker")
        with ship.worker("--processes", "2", "--metrics-port", str(port)) as second:
            assert second.wait(40) == 1
    sentence = f"windlass: The worker cannot tell its metrics on 127.0.0.1, port {port}: "
    assert sentence in ship.log()
    assert "Traceback" not in ship.log()
