"""Programs that tests run beside themselves, to have a second process on the same file."""

import subprocess
import sys
from collections.abc import Callable
from typing import Any

from tests.servers import fork_server

PATIENCE = 60.0


def start(
    program: str, *args: object, before: Callable[[], object] | None = None
) -> subprocess.Popen[str]:
    """Start a program; it is spoken to by its standard input and output.

    One that has something done `before` has an interpreter of its own.
    """
    arguments = ["-P", "-c", program, *map(str, args)]
    pipes: Any = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE)
    if before is None:
        return fork_server.start(arguments, text=True, **pipes)
    return subprocess.Popen([sys.executable, *arguments], text=True, preexec_fn=before, **pipes)


def finish(process: subprocess.Popen[str], say: str = "") -> str:
    """Say something to a program and wait for its end; what it printed, if it ended well."""
    try:
        output, errors = process.communicate(say, timeout=PATIENCE)
    finally:
        process.kill()
        process.wait()
    assert process.returncode == 0, errors
    return output


def hear(process: subprocess.Popen[str], expected: str) -> None:
    """Wait for a line that a program prints."""
    assert process.stdout is not None
    line = process.stdout.readline().strip()
    if line != expected:
        process.kill()
        raise AssertionError(f"expected {expected!r}, got {line!r}: {process.communicate()[1]}")
