"""The program of a fork server: it has loaded all code, and forks itself for each program.

    python -P forking.py NUMBER

NUMBER is the descriptor of its socket. Whoever has the other end sends requests, see `Request`,
and gets the number of a process and a descriptor of it for each. How that process ended comes on
a descriptor that the request brought. When the socket ends, all processes are killed.

A process that was forked becomes what `python ARGUMENTS` would be, and ends as that would, but
does not take its modules apart at the very end: with all code loaded, that takes long.
"""

import atexit
import gc
import importlib
import io
import json
import multiprocessing.process
import os
import pkgutil
import runpy
import select
import signal
import socket
import sys
import threading
import time
import traceback
from contextlib import suppress
from importlib.machinery import SourceFileLoader
from pathlib import Path
from types import CodeType, ModuleType
from typing import Any, NamedTuple, NoReturn

FILES = 4
"""How many descriptors a request brings: the three standard ones, and one for how it ended."""
LENGTH = 4
"""The bytes of a number in a message."""
NOT_LOADED = ("windlass.django", "windlass.observe", "windlass.testing")
"""A program loads what it needs of these by itself. With all of them, it would do more than it
was asked for: where the library for traces is loaded, it looks for spans to carry on. Django's
models need a project around them."""


class Request(NamedTuple):
    """A program to start; it is sent as JSON, after the length of that."""

    arguments: list[str]
    """what follows `python`"""
    cwd: str
    environ: dict[str, str]
    session: bool
    """whether it begins a session"""
    terminal: bool
    """whether its stdin becomes the terminal of that session"""


def load(package: str = "windlass") -> None:
    """Import a package and all in it: what commands and stores need, libraries as well."""
    for module in pkgutil.iter_modules(importlib.import_module(package).__path__, f"{package}."):
        if module.name in NOT_LOADED or module.name.endswith("__main__"):
            continue
        if module.ispkg:
            load(module.name)
        else:
            importlib.import_module(module.name)


def expand_scripts() -> None:
    """Put together the scripts for Redis, which each program does for those that it needs."""
    scripts = importlib.import_module("windlass.stores.redis.scripts")
    for path in (Path(scripts.__file__ or "").parent / "lua").glob("*.lua"):
        scripts.script(path.stem)


class Server:
    """Takes requests, and tells how the processes ended."""

    def __init__(self, connection: socket.socket) -> None:
        self._connection = connection
        self._living: dict[int, tuple[int, int]] = {}
        """by the descriptor of a process: its number, and where to tell of its end"""

    def serve(self) -> Request | None:
        """Serve until the other end closes; in a forked process, return what it is to become."""
        events = select.poll()
        events.register(self._connection, select.POLLIN)
        while True:
            for number, _ in events.poll():
                if number in self._living:
                    events.unregister(number)
                    self._bury(number)
                    continue
                received = self._receive()
                if received is None:
                    self._end()
                    return None
                request, files = received
                process = self._fork(files)
                if process is None:
                    return request
                events.register(process, select.POLLIN)

    def _receive(self) -> tuple[Request, list[int]] | None:
        head, files, _, _ = socket.recv_fds(self._connection, LENGTH, FILES)
        if not head:
            return None
        body = self._connection.recv(int.from_bytes(head, "big"), socket.MSG_WAITALL)
        return Request(*json.loads(body)), files

    def _fork(self, files: list[int]) -> int | None:
        """The descriptor of a new process; None in the process itself."""
        pid = os.fork()
        if not pid:
            self._leave()
            for number, file in enumerate(files[:3]):
                os.dup2(file, number)
            for file in files:
                os.close(file)
            return None
        *standard, report = files
        for file in standard:
            os.close(file)
        process = os.pidfd_open(pid)
        self._living[process] = (pid, report)
        socket.send_fds(self._connection, [pid.to_bytes(LENGTH, "big")], [process])
        return process

    def _leave(self) -> None:
        """Close what belongs to the server, in a process that it forked."""
        self._connection.close()
        for process, (_, report) in self._living.items():
            os.close(process)
            os.close(report)

    def _bury(self, process: int) -> None:
        pid, report = self._living.pop(process)
        _, status = os.waitpid(pid, 0)
        with suppress(BrokenPipeError):  # nobody wants to know any more
            os.write(report, b"%d" % os.waitstatus_to_exitcode(status))
        os.close(report)
        os.close(process)

    def _end(self) -> None:
        for process in list(self._living):
            signal.pidfd_send_signal(process, signal.SIGKILL)
            self._bury(process)


def become(request: Request) -> NoReturn:
    """Be that program until its end."""
    code: int | str | None = None
    try:
        prepare(request)
        run(request.arguments)
    except SystemExit as error:
        code = error.code
    except BaseException as error:
        error.__traceback__ = own_part(error)
        sys.excepthook(type(error), error, error.__traceback__)
        code = -signal.SIGINT if isinstance(error, KeyboardInterrupt) else 1
    end(code)


def prepare(request: Request) -> None:
    """Have what an interpreter has at its start: folder, environment, signals, standard files."""
    if request.session:
        os.setsid()
    if request.terminal:
        # What `login_tty` does, for stdin alone.
        import fcntl
        import termios

        fcntl.ioctl(0, termios.TIOCSCTTY, 0)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    os.chdir(request.cwd)
    os.environ.clear()
    os.environ.update(request.environ)
    time.tzset()
    sys.dont_write_bytecode = bool(os.environ.get("PYTHONDONTWRITEBYTECODE"))
    # Where its own children begin.
    vars(multiprocessing.process)["ORIGINAL_DIR"] = request.cwd
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        vars(sys)[name] = vars(sys)[f"__{name}__"] = standard(number, vars(sys)[name])


def standard(number: int, like: io.TextIOWrapper) -> Any:
    """A standard file as an interpreter opens it: on a terminal, each line is written at once."""
    mode = "w" if number else "r"
    at_once = bool(os.environ.get("PYTHONUNBUFFERED"))
    file: Any = open(number, f"{mode}b", 0 if at_once else -1, closefd=False)  # noqa: SIM115
    getattr(file, "raw", file).name = like.name
    lines = not at_once and (number == 2 or file.isatty())
    made: Any = io.TextIOWrapper(
        file, like.encoding, like.errors, "\n", line_buffering=lines, write_through=at_once
    )
    made.mode = mode
    return made


def run(arguments: list[str]) -> None:
    """Run what follows `python`: `[-P] -c CODE …`, `[-P] -m MODULE …` or `[-P] FILE …`."""
    sys.orig_argv = [sys.executable, *arguments]
    safe = arguments[0] == "-P"
    kind, *words = arguments[safe:]
    sys.modules["__main__"] = main = ModuleType("__main__")
    match kind:
        case "-c" | "-m":
            given, *rest = words
            sys.argv = [kind, *rest]
            place = "" if kind == "-c" else os.getcwd()
        case _:
            sys.argv = [kind, *words]
            place = os.path.dirname(os.path.realpath(kind))
    set_path([] if safe else [place])
    match kind:
        case "-c":
            execute(compile(given, "<string>", "exec"), main)
        case "-m":
            runpy._run_module_as_main(given)  # type: ignore[attr-defined]
        case _:
            main.__file__ = os.path.abspath(kind)
            main.__loader__ = SourceFileLoader("__main__", kind)
            with io.open_code(kind) as file:
                text = file.read()
            execute(compile(text, main.__file__, "exec"), main)


def set_path(first: list[str]) -> None:
    """Where modules are looked for: `first`, what PYTHONPATH says, and the interpreter's own."""
    said = os.environ.get("PYTHONPATH", "")
    own = [os.path.abspath(each) for each in said.split(os.pathsep) if each]
    sys.path[:] = dict.fromkeys([*first, *own, *sys.path])
    importlib.invalidate_caches()


def execute(code: CodeType, main: ModuleType) -> None:
    exec(code, vars(main))


def own_part(error: BaseException) -> Any:
    """The traceback without what is above the program: the functions of this file."""
    trace = error.__traceback__
    while trace is not None and trace.tb_frame.f_code.co_filename == __file__:
        trace = trace.tb_next
    return trace


def end(code: int | str | None) -> NoReturn:
    """Wait for threads, call what is to be called, and end with the code that Python gives."""
    number = 0 if code is None else code if isinstance(code, int) else 1
    if not isinstance(code, int | None):
        print(code, file=sys.stderr)  # noqa: T201
    threading._shutdown()  # type: ignore[attr-defined]
    atexit._run_exitfuncs()
    for file in (sys.stdout, sys.stderr):
        try:
            if not file.closed:
                file.flush()
        except OSError as error:
            print(f"Exception ignored in: {file!r}", file=sys.stderr)  # noqa: T201
            traceback.print_exception(error.with_traceback(None))
            number = 120  # as Python has it
    if number == -signal.SIGINT:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        os.kill(os.getpid(), signal.SIGINT)
    os._exit(number & 0xFF)


def main(number: int) -> None:
    # Ctrl-C is for whoever started this one, and for its programs.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    load()
    expand_scripts()
    gc.collect()
    gc.freeze()
    request = Server(socket.socket(fileno=number)).serve()
    if request is not None:
        become(request)


if __name__ == "__main__":
    main(int(sys.argv[1]))
