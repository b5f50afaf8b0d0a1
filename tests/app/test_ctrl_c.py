"""Ctrl-C in the midst of a blocking call, at each of its steps: the store works afterwards."""

import gc
import sys
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dis import opname
from itertools import count
from pathlib import Path
from types import FrameType
from typing import Any

import pytest

import windlass
from tests.servers.emptied import emptied_database, emptied_schema
from windlass import Windlass
from windlass.core.ids import new_id

OURS = str(Path(windlass.__file__).parent)
LOOKS = {"CALL", "CALL_KW", "CALL_FUNCTION_EX", "JUMP_BACKWARD"}
PATIENCE = 5.0


@pytest.fixture(params=["memory", "sqlite", "redis", "postgres", "mariadb"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    match request.param:
        case "memory":
            return "memory://"
        case "sqlite":
            return f"sqlite:///{tmp_path}/jobs.db"
    server: str = request.getfixturevalue(f"{request.param}_server").url
    match request.param:
        case "postgres":
            return emptied_schema(server, "ctrl_c")
        case "mariadb":
            return emptied_database(server, "ctrl_c")
    return f"{server}?namespace={new_id()}"


# A call that was interrupted may have made a coroutine that nobody runs.
@pytest.mark.filterwarnings("ignore:.*was never awaited:RuntimeWarning")
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_a_store_can_be_used_after_ctrl_c_at_any_step_of_a_call(place: str) -> None:
    # The thread remembers what it was about to forget when it was interrupted, and goes with it.
    with ThreadPoolExecutor(1) as threads:
        assert threads.submit(interrupted_everywhere, place).result() > 20
    # What nobody runs is to be found now, while that is expected.
    gc.collect()


def interrupted_everywhere(place: str) -> int:
    """At how many steps an enqueue was interrupted."""
    app = Windlass(place)
    task = app.task(name="any")(len)
    task.enqueue("x")
    for number in count(1):
        interrupt = Interrupt(number)
        try:
            with interrupt:
                task.enqueue("x")
        except KeyboardInterrupt:
            pass
        if not interrupt.came:
            break
        task.enqueue("x")
        in_a_thread(lambda: task.enqueue("x"))
    app.close()
    return number


class Interrupt:
    """Raises `KeyboardInterrupt` in this thread, the n-th time that a signal could be handled.

    The interpreter looks for signals as a function begins, after a call of something written in C,
    and when it jumps back in a loop. Only our own code counts here.
    """

    def __init__(self, number: int) -> None:
        self._left = number
        self._before: dict[FrameType, int] = {}
        """where each frame was last"""
        self._has_called = False
        """Python code was called since"""
        self.came = False

    def __enter__(self) -> None:
        sys.settrace(self._trace)

    def __exit__(self, *_: object) -> None:
        sys.settrace(None)

    def _trace(self, frame: FrameType, event: str, arg: object) -> Any:
        if event == "call":
            self._has_called = True
        if self.came or not frame.f_code.co_filename.startswith(OURS):
            return None
        frame.f_trace_opcodes = True
        if event == "call":
            self._step()
        elif event == "opcode":
            before = self._before.get(frame)
            done = None if before is None else opname[frame.f_code.co_code[before]]
            if done in LOOKS and not self._has_called:
                self._step()
            self._before[frame] = frame.f_lasti
            self._has_called = False
        return self._trace

    def _step(self) -> None:
        self._left -= 1
        if self._left == 0:
            self.came = True
            raise KeyboardInterrupt


def in_a_thread(call: Callable[[], object]) -> None:
    done = threading.Event()

    def run() -> None:
        call()
        done.set()

    threading.Thread(target=run, daemon=True).start()
    assert done.wait(PATIENCE), "another thread waits for ever"
