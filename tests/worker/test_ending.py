"""The end of a process whose worker does not stop, while nothing takes what it logs."""

import subprocess
import sys

PROGRAM = """
import logging, sys, threading
from windlass.worker.shutdown import Ending

class Stuck(logging.Handler):
    def emit(self, record):
        threading.Event().wait()

def last():
    print("given back", flush=True)
    return True

if "traced" in sys.argv:
    def raising(*_):
        raise RuntimeError
    threading.settrace(raising)
logging.getLogger("windlass").addHandler(Stuck())
Ending(0.1, last).begin()
threading.Event().wait()
"""


def ended(*args: str) -> tuple[int, str]:
    command = [sys.executable, "-c", PROGRAM, *args]
    run = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    return run.returncode, run.stdout


def test_a_process_ends_in_time_though_its_log_is_stuck() -> None:
    assert ended() == (0, "given back\n")


def test_a_process_ends_in_time_though_new_threads_cannot_start() -> None:
    assert ended("traced") == (0, "given back\n")
