"""Operating-system processes: born without root's powers, and never left behind."""

import os
import signal
import subprocess
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path

from tests.servers.account import account

PATIENCE = 30.0


def spawn(command: Sequence[str], folder: Path, log: Path) -> subprocess.Popen[bytes]:
    """Start `command` in `folder`, out of reach of a Ctrl-C that is meant for the tests."""
    owner = account()
    as_root = os.geteuid() == 0
    with log.open("ab") as output:
        return subprocess.Popen(
            command,
            cwd=folder,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
            user=owner.pw_uid if as_root else None,
            group=owner.pw_gid if as_root else None,
            extra_groups=[] if as_root else None,
        )


def guard(process: subprocess.Popen[bytes], folder: Path) -> subprocess.Popen[bytes]:
    """A shell that ends `process` and removes `folder` should the tests die without cleaning up.

    It reads from a pipe that only the tests hold open, so even a `kill -9` of the tests wakes it.
    """
    script = 'read -r _; kill -9 "$1"; sleep 0.2; rm -rf "$2"'
    return subprocess.Popen(
        ["/bin/sh", "-c", script, "guard", str(process.pid), str(folder)],
        stdin=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )


def kill(process: subprocess.Popen[bytes]) -> None:
    """`kill -9` with all children: one survivor would keep the next start from working."""
    # Frozen first, so that no child is born between the count and the kill.
    process.send_signal(signal.SIGSTOP)
    family = _children(process.pid)
    process.kill()
    for child in family:
        with suppress(ProcessLookupError):
            os.kill(child, signal.SIGKILL)
    process.wait()
    wait_until(lambda: not any(alive(child) for child in family))


def alive(pid: int) -> bool:
    """Whether `pid` still runs; a zombie that nobody collects does not count."""
    try:
        return _status(pid)[0] not in "ZX"
    except (FileNotFoundError, ProcessLookupError):
        return False


def wait_until(condition: Callable[[], bool], patience: float = PATIENCE) -> bool:
    """Ask again every few milliseconds; false when patience ran out first."""
    deadline = time.monotonic() + patience
    while not condition():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.005)
    return True


def _children(parent: int) -> list[int]:
    found = []
    for entry in Path("/proc").glob("[0-9]*"):
        with suppress(FileNotFoundError, ProcessLookupError):
            if int(_status(int(entry.name))[1]) == parent:
                found.append(int(entry.name))
    return found


def _status(pid: int) -> list[str]:
    """State, parent and the rest; a program's name may itself contain spaces and brackets."""
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()


def is_stopped(pid: int) -> bool:
    """Whether every thread of a process has stopped for a signal."""
    stats = [task.joinpath("stat").read_text() for task in Path(f"/proc/{pid}/task").iterdir()]
    return all(stat.rpartition(")")[2].split()[0] == "T" for stat in stats)
