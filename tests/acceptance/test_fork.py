"""Producers that fork: before use, after use, in the middle of use, and as a server does."""

import subprocess
import sys
from pathlib import Path

import pytest

from windlass.stores.open import open_store
from windlass.sync import drive

DEADLINE = 10.0
"""Far below the half minute for which a store waits for a lock."""

BEGIN = """
import asyncio, os, signal, sys, threading, time
from windlass import Windlass

app = Windlass(sys.argv[1])

@app.task
def send() -> None: ...

def enqueue(id):
    send.using(id=id).enqueue()

def fork(act, *args):
    child = os.fork()
    if child == 0:
        try:
            act(*args)
        except BaseException as error:
            os.write(2, f"{type(error).__name__}: {error}\\n".encode())
            os._exit(1)
        os._exit(0)
    return child

def collect(children, seconds):
    # A child that hangs is ended, so that it fails this test and not the whole run.
    deadline = time.monotonic() + seconds
    failed = 0
    for child in children:
        while (done := os.waitpid(child, os.WNOHANG)) == (0, 0):
            if time.monotonic() > deadline:
                os.write(2, b"a child hangs\\n")
                os.kill(child, signal.SIGKILL)
                done = os.waitpid(child, 0)
                break
            time.sleep(0.005)
        failed += done[1] != 0
    return failed
"""


def run(url: str, program: str) -> str:
    """Run a forking program; what it complained of, but not that threads and fork mix badly."""
    done = subprocess.run(
        [sys.executable, "-P", "-W", "ignore", "-c", BEGIN + program, url],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    return done.stderr if done.returncode == 0 else done.stderr + f"exit {done.returncode}"


def stored(url: str) -> set[str]:
    store = open_store(url, blocking=True)
    drive(store.open())
    try:
        wanted = [f"{who}-{n}" for who in ("parent", *map(str, range(8))) for n in range(50)]
        return set(drive(store.get(wanted)))
    finally:
        drive(store.close())


@pytest.fixture
def url(tmp_path: Path) -> str:
    return f"sqlite:///{tmp_path}/jobs.db"


def test_an_app_that_was_not_used_yet_can_be_used_on_both_sides(url: str) -> None:
    program = """
child = fork(enqueue, "0-0")
enqueue("parent-0")
assert collect([child], 10) == 0
enqueue("parent-1")
"""
    assert run(url, program) == ""
    assert stored(url) == {"parent-0", "parent-1", "0-0"}


PREFORK = """
def serve(name):
    for n in range(50):
        enqueue(f"{name}-{n}")
    {ending}

enqueue("parent-0")
children = [fork(serve, name) for name in range(4)]
enqueue("parent-1")
assert collect(children, 30) == 0
enqueue("parent-2")
"""
ENDINGS = {"left open": "pass", "closed": "app.close()"}


@pytest.mark.parametrize("ending", ENDINGS.values(), ids=ENDINGS)
def test_a_server_that_used_the_app_before_it_forked_its_workers(url: str, ending: str) -> None:
    assert run(url, PREFORK.replace("{ending}", ending)) == ""
    everything = {f"{name}-{n}" for name in range(4) for n in range(50)}
    assert stored(url) == everything | {"parent-0", "parent-1", "parent-2"}


def test_a_child_forked_by_a_child(url: str) -> None:
    program = """
def serve():
    enqueue("0-0")
    assert collect([fork(enqueue, "1-0")], 10) == 0
    enqueue("0-1")

enqueue("parent-0")
assert collect([fork(serve)], 20) == 0
enqueue("parent-1")
"""
    assert run(url, program) == ""
    assert stored(url) == {"parent-0", "parent-1", "0-0", "0-1", "1-0"}


def test_async_code_before_and_after_a_fork(url: str) -> None:
    program = """
async def produce(id):
    await send.using(id=id).aenqueue()

def serve():
    enqueue("0-0")
    asyncio.run(produce("0-1"))

asyncio.run(produce("parent-0"))
child = fork(serve)
asyncio.run(produce("parent-1"))
assert collect([child], 20) == 0
"""
    assert run(url, program) == ""
    assert stored(url) == {"parent-0", "parent-1", "0-0", "0-1"}


CLOSING = """
def serve(heard, told):
    enqueue("0-0")
    os.write(told, b"x")
    os.read(heard, 1)
    enqueue("0-1")

enqueue("parent-0")
(child_hears, tell), (hear, child_tells) = os.pipe(), os.pipe()
child = fork(serve, child_hears, child_tells)
os.read(hear, 1)
app.close()
os.write(tell, b"x")
assert collect([child], 20) == 0
"""


def test_a_parent_that_closes_loses_none_of_its_childs_jobs(url: str) -> None:
    """The child was told that its job is stored; so it must be there for everyone."""
    assert run(url, CLOSING) == ""
    assert stored(url) == {"parent-0", "0-0", "0-1"}


BUSY = f"""
stop = threading.Event()

def keep_busy():
    while not stop.is_set():
        app.enqueue_many([send.call() for _ in range(20)])

thread = threading.Thread(target=keep_busy)
enqueue("parent-0")
thread.start()
children = [fork(enqueue, f"{{name}}-0") for name in range(8)]
failed = collect(children, {DEADLINE})
stop.set()
thread.join()
assert failed == 0, f"{{failed}} of 8 children could not enqueue"
"""


def test_children_forked_while_another_thread_enqueues_can_enqueue_too(url: str) -> None:
    assert run(url, BUSY) == ""
    assert stored(url) == {"parent-0", *(f"{name}-0" for name in range(8))}
