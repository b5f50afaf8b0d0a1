"""Starts programs by forking: as `subprocess` does with an interpreter, but in a few milliseconds.

    with start(["-P", "-c", "print(1)"], stdout=PIPE, text=True) as process: ...
    done = run([*WINDLASS, "--help"], capture_output=True, text=True)

`arguments` is what would follow `python`. There is one server for each process that asks for it,
see `forking.py`; it has loaded all of Windlass, and ends with the one that started it. What it
forks has an environment, a folder, signals, standard files and an end of its own.

Not for a test whose subject is how an interpreter starts or ends: which modules are loaded, how
long that takes, what is warned of at the very end. The options of an interpreter, except -P, and
the variables that it reads at its start, except FOLLOWED, must be those of this process.
"""

import atexit
import json
import os
import select
import signal
import socket
import subprocess
import sys
import threading
import weakref
from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import IO, Any, AnyStr, Literal, TypedDict, Unpack, overload

from tests.servers.forking import FILES, LENGTH, Request

WINDLASS = ("-P", "-c", "from windlass.cli.main import main; main()")
"""The arguments by which an interpreter becomes the command `windlass`."""

PROGRAM = Path(__file__).with_name("forking.py")
READ_AT_START = ("PYTHON", "LC_", "LANG")
"""How variables begin that an interpreter reads at its start."""
FOLLOWED = ("PYTHONPATH", "PYTHONDONTWRITEBYTECODE", "PYTHONUNBUFFERED")
"""Those of them that a forked process follows as well."""

File = int | IO[Any] | None


class Options(TypedDict, total=False):
    """What `subprocess.Popen` takes by the same names; and `terminal`."""

    cwd: str | Path | None
    env: Mapping[str, str] | None
    stdin: File
    stdout: File
    stderr: File
    start_new_session: bool
    terminal: bool
    """whether stdin becomes the terminal of the new session"""


Arguments = Sequence[str | Path]


@overload
def start(
    arguments: Arguments, *, text: Literal[True], **options: Unpack[Options]
) -> "subprocess.Popen[str]": ...


@overload
def start(
    arguments: Arguments, *, text: Literal[False] = False, **options: Unpack[Options]
) -> "subprocess.Popen[bytes]": ...


def start(
    arguments: Arguments, *, text: bool = False, **options: Unpack[Options]
) -> "subprocess.Popen[Any]":
    """Start a program."""
    return Forked(arguments, text=text, **options)


@overload
def run(
    arguments: Arguments,
    *,
    text: Literal[True],
    input: str | None = None,
    timeout: float | None = None,
    capture_output: bool = False,
    check: bool = False,
    **options: Unpack[Options],
) -> "subprocess.CompletedProcess[str]": ...


@overload
def run(
    arguments: Arguments,
    *,
    text: Literal[False] = False,
    input: bytes | None = None,
    timeout: float | None = None,
    capture_output: bool = False,
    check: bool = False,
    **options: Unpack[Options],
) -> "subprocess.CompletedProcess[bytes]": ...


def run(
    arguments: Arguments,
    *,
    text: bool = False,
    input: str | bytes | None = None,
    timeout: float | None = None,
    capture_output: bool = False,
    check: bool = False,
    **options: Unpack[Options],
) -> "subprocess.CompletedProcess[Any]":
    """Start a program and wait for its end."""
    if input is not None:
        options["stdin"] = subprocess.PIPE
    if capture_output:
        options["stdout"] = options["stderr"] = subprocess.PIPE
    process: subprocess.Popen[Any] = Forked(arguments, text=text, **options)
    with process:
        try:
            stdout, stderr = process.communicate(input, timeout)
        except BaseException:
            process.kill()
            raise
    done = subprocess.CompletedProcess(process.args, process.returncode, stdout, stderr)
    if check:
        done.check_returncode()
    return done


class Forked(subprocess.Popen[AnyStr]):
    """A process of the fork server; its pipes are those of `subprocess`."""

    _request: Request
    _process: int
    """a descriptor of it"""
    _report: int
    """where its exit code will come from"""
    _reading: threading.Lock

    def __init__(
        self,
        arguments: Arguments,
        *,
        text: bool,
        start_new_session: bool = False,
        terminal: bool = False,
        cwd: str | Path | None = None,
        env: Mapping[str, str] | None = None,
        **files: Any,
    ) -> None:
        environ = dict(os.environ if env is None else env)
        refuse_what_is_read_at_start(environ)
        words: list[str] = [os.fspath(each) for each in arguments]
        folder = os.path.abspath(cwd or os.getcwd())
        self._request = Request(words, folder, environ, start_new_session, terminal)
        self._reading = threading.Lock()
        super().__init__([sys.executable, *words], text=text, **files)

    def _execute_child(self, args: object, *details: Any) -> None:
        """Start it. `subprocess` calls this with the pipes that it made; see `subprocess.py`."""
        read, write, errors = details[9], details[12], details[14]
        files = enumerate((read, write, errors))
        standard: list[int] = [own if file == -1 else file for own, file in files]
        self._report, report = os.pipe()
        try:
            self.pid, self._process = server(os.getpid()).start(self._request, [*standard, report])
        except BaseException:
            os.close(self._report)
            raise
        finally:
            os.close(report)
        for number in (self._report, self._process):
            weakref.finalize(self, os.close, number)
        self._child_created = True
        self._close_pipe_fds(*details[9:15])  # type: ignore[attr-defined]

    def send_signal(self, sig: int) -> None:
        self.poll()
        if self.returncode is None:
            with suppress(ProcessLookupError):
                signal.pidfd_send_signal(self._process, sig)

    def _internal_poll(self, _deadstate: int | None = None) -> int | None:
        self._look(0)
        return self.returncode

    def _wait(self, timeout: float | None) -> int:
        if not self._look(timeout):
            assert timeout is not None
            raise subprocess.TimeoutExpired(self.args, timeout)
        return self.returncode

    def _look(self, timeout: float | None) -> bool:
        """Whether it has ended, or does so within that many seconds."""
        if self.returncode is not None:
            return True
        event = select.poll()
        event.register(self._report, select.POLLIN)
        if not event.poll(None if timeout is None else max(0, timeout) * 1000):
            return False
        with self._reading:
            if self.returncode is None:
                code = os.read(self._report, 16)
                if not code:
                    raise ChildProcessError("the fork server is gone")
                self.returncode = int(code)
        return True


class ForkServer:
    """The server of this process, as its client sees it."""

    def __init__(self) -> None:
        self._asking = threading.Lock()
        self._connection, theirs = socket.socketpair()
        environ = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
        with theirs:
            number = theirs.fileno()
            self._server = subprocess.Popen(
                [sys.executable, "-P", PROGRAM, str(number)],
                # Or gRPC would start threads again in each process.
                env=environ | {"GRPC_ENABLE_FORK_SUPPORT": "0"},
                cwd="/",
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                pass_fds=[number],
            )

    @property
    def pid(self) -> int:
        return self._server.pid

    def start(self, request: Request, files: Sequence[int]) -> tuple[int, int]:
        """The number of a new process, and a descriptor of it."""
        assert len(files) == FILES
        body = json.dumps(request).encode()
        with self._asking:
            head = len(body).to_bytes(LENGTH, "big")
            socket.send_fds(self._connection, [head], files)
            self._connection.sendall(body)
            answer, processes, _, _ = socket.recv_fds(self._connection, LENGTH, 1)
        if not answer:
            raise ChildProcessError("the fork server is gone")
        return int.from_bytes(answer, "big"), processes[0]

    def close(self) -> None:
        self._connection.close()
        self._server.wait()


@cache
def server(pid: int) -> ForkServer:
    """The server of the process of this number, which must be the caller's; a fork has its own."""
    made = ForkServer()
    atexit.register(made.close)
    return made


def refuse_what_is_read_at_start(environ: Mapping[str, str]) -> None:
    """Raises `ValueError` for a variable that would be ignored: it takes a real interpreter."""
    for name, value in environ.items():
        read = name.startswith(READ_AT_START) and name not in FOLLOWED
        if read and value != os.environ.get(name):
            raise ValueError(f"{name} is read when an interpreter starts")
