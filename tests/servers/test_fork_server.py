"""A program that was forked is as one that an interpreter was started for."""

import json
import os
import pty
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from subprocess import PIPE, STDOUT, CompletedProcess

import pytest

from tests.servers.fork_server import WINDLASS, run, start

ROOT = Path(__file__).parents[2]

LOOK = """
import gc, json, os, signal, sys, threading
main = sys.modules["__main__"]
descriptors = sorted(os.listdir("/proc/self/fd"))
print(json.dumps({
    "argv": sys.argv,
    "orig_argv": sys.orig_argv,
    "path": sys.path,
    "executable": sys.executable,
    "environ": dict(os.environ),
    "variables": sorted(os.popen("env").read().splitlines()),
    "folder": os.getcwd(),
    "main": [vars(main).get(name) for name in ("__name__", "__file__", "__package__")],
    "module": main.__spec__ and main.__spec__.name,
    "files": [
        [getattr(file, name) for name in ("name", "mode", "encoding", "errors", "line_buffering")]
        for file in (sys.stdin, sys.stdout, sys.stderr)
    ],
    "descriptors": descriptors,
    "signals": [str(signal.getsignal(each)) for each in sorted(signal.valid_signals())],
    "blocked": sorted(signal.pthread_sigmask(signal.SIG_BLOCK, ())),
    "threads": threading.active_count(),
    "safe": [sys.flags.safe_path, sys.dont_write_bytecode],
    "group": os.getpgid(0) == os.getpid(),
    "session": os.getsid(0) == os.getpid(),
}, sort_keys=True))
"""

ENDS = {
    "by itself": "pass",
    "with a code": "raise SystemExit(3)",
    "with a big code": "raise SystemExit(259)",
    "with words": "import sys; sys.exit('no')",
    "with an error": "def fail():\n    1 / 0\nfail()",
    "with an error of its own code": "1 +",
    "with a group": "raise ExceptionGroup('two', [ValueError(1), KeyError(2)])",
    "with Ctrl-C": "raise KeyboardInterrupt",
    "by a signal": "import os; os.kill(os.getpid(), 9)",
    "at once": "import os; print('lost'); os._exit(7)",
    "after its threads": (
        "import threading, time\n"
        "threading.Thread(target=lambda: (time.sleep(0.05), print('thread'))).start()"
    ),
    "after what it was told to call": "import atexit; atexit.register(print, 'last')",
    "with what its hook says": "import sys; sys.excepthook = lambda *of: print(of[1]); 1 / 0",
    "without its stdout": "import sys; sys.stdout.close()",
    "with a full disk": "import sys; sys.stdout = open('/dev/full', 'w'); print('x')",
}


def really(arguments: list[str], **options: object) -> CompletedProcess[str]:
    """What an interpreter of its own does."""
    return subprocess.run([sys.executable, *arguments], **options)  # type: ignore[call-overload, no-any-return]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "looks.py").write_text(LOOK)
    return tmp_path


@pytest.mark.parametrize(
    "arguments",
    [
        ["-P", "-c", LOOK, "a", "-P"],
        ["-P", "-m", "looks", "a"],
        ["-P", "looks.py", "-c"],
    ],
    ids=["code", "module", "file"],
)
@pytest.mark.parametrize(
    "more", [{}, {"PYTHONUNBUFFERED": "1", "PYTHONDONTWRITEBYTECODE": "1"}], ids=["", "session"]
)
def test_it_has_what_an_interpreter_has(
    folder: Path, arguments: list[str], more: dict[str, str]
) -> None:
    environ = {"PATH": os.environ["PATH"], "A": "1", "PYTHONPATH": ".", **more}
    environ |= {name: os.environ[name] for name in ("LANG", "LC_ALL") if name in os.environ}
    got, wanted = (
        each(
            arguments,
            cwd=folder,
            env=environ,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            start_new_session=bool(more),
        )
        for each in (run, really)
    )
    assert wanted.returncode == 0, wanted.stderr
    assert got.stderr == wanted.stderr
    assert json.loads(got.stdout) == json.loads(wanted.stdout)
    assert (got.args, got.returncode) == (wanted.args, wanted.returncode)


@pytest.mark.parametrize("arguments", [["-c", LOOK], ["-m", "looks"], ["looks.py"]], ids=str)
def test_without_p_it_finds_modules_beside_it(folder: Path, arguments: list[str]) -> None:
    code = "import sys; print(sys.path)"
    (folder / "looks.py").write_text(code)
    arguments = [code if each == LOOK else each for each in arguments]
    got, wanted = (
        each(arguments, cwd=folder, capture_output=True, text=True) for each in (run, really)
    )
    assert (got.stdout, got.stderr) == (wanted.stdout, wanted.stderr)


@pytest.mark.parametrize("code", ENDS.values(), ids=list(ENDS))
def test_it_ends_as_an_interpreter_does(code: str) -> None:
    got, wanted = (
        each(["-P", "-c", code], capture_output=True, text=True) for each in (run, really)
    )
    assert (got.returncode, got.stdout, got.stderr) == (
        wanted.returncode,
        wanted.stdout,
        wanted.stderr,
    )


@pytest.mark.parametrize("arguments", [["-P", "fails.py"], ["-m", "fails"]], ids=["file", "module"])
def test_an_error_in_a_file_is_told_as_by_an_interpreter(
    tmp_path: Path, arguments: list[str]
) -> None:
    (tmp_path / "fails.py").write_text("def fail():\n    raise ValueError('here')\n\nfail()\n")
    got, wanted = (
        each(arguments, cwd=tmp_path, capture_output=True, text=True) for each in (run, really)
    )
    assert "ValueError: here" in wanted.stderr
    assert (got.returncode, got.stderr) == (wanted.returncode, wanted.stderr)


def test_it_runs_windlass() -> None:
    done = run([*WINDLASS, "--version"], capture_output=True, text=True, check=True)
    assert done.stdout.startswith("windlass ")


def test_all_of_windlass_is_loaded_but_no_tracing() -> None:
    code = (
        "import sys; print(*[name in sys.modules for name in ("
        "'windlass.server.server', 'windlass.worker.worker', 'asyncpg', 'asyncmy', 'hiredis', "
        "'aiohttp', 'grpc', 'httptools', 'opentelemetry', 'sentry_sdk', 'windlass.testing')])"
    )
    done = run(["-P", "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == [*["True"] * 8, *["False"] * 3]


def test_it_reads_and_writes_pipes() -> None:
    code = "import sys; sys.stderr.write('e'); print(sys.stdin.read().upper())"
    done = run(["-P", "-c", code], input="abc", stdout=PIPE, stderr=STDOUT, text=True)
    assert done.stdout == "eABC\n"
    with start(["-P", "-c", "print(input())"], stdin=PIPE, stdout=PIPE) as process:
        assert process.stdin is not None and process.stdout is not None
        process.stdin.write(b"x\n")
        process.stdin.flush()
        assert process.stdout.readline() == b"x\n"
        assert process.wait(30) == 0


def test_it_writes_where_this_process_does(capfd: pytest.CaptureFixture[str]) -> None:
    run(["-P", "-c", "import os; os.system('echo out; echo err >&2')"], check=True)
    assert capfd.readouterr() == ("out\n", "err\n")


def test_it_gets_signals_and_is_waited_for() -> None:
    with start(["-P", "-c", "print(0, flush=True); input()"], stdin=PIPE, stdout=PIPE) as process:
        assert process.stdout is not None
        process.stdout.readline()
        assert process.poll() is None
        with pytest.raises(subprocess.TimeoutExpired):
            process.wait(0.01)
        Path(f"/proc/{process.pid}").stat()
        process.terminate()
        assert process.wait() == -signal.SIGTERM
        assert process.poll() == process.returncode == -signal.SIGTERM
        process.kill()  # does nothing now
        assert not Path(f"/proc/{process.pid}").exists()


def test_one_that_takes_too_long_is_killed() -> None:
    began = time.monotonic()
    with pytest.raises(subprocess.TimeoutExpired):
        run(["-P", "-c", "import time; time.sleep(60)"], timeout=0.1)
    assert time.monotonic() - began < 30


def test_a_failure_is_raised_where_it_is_to_be() -> None:
    with pytest.raises(subprocess.CalledProcessError) as caught:
        run(["-P", "-c", "raise SystemExit(4)"], check=True)
    assert caught.value.returncode == 4


def test_one_is_not_kept_alive_by_another() -> None:
    """The pipes of a process are not open in those that were started after it."""
    first = start(["-P", "-c", "print(input())"], stdin=PIPE, stdout=PIPE, text=True)
    second = start(["-P", "-c", "input()"], stdin=PIPE, text=True)
    with first, second:
        assert first.stdin is not None and first.stdout is not None
        first.stdin.close()
        assert first.stdout.read() == ""
        assert first.wait(30) == 1
        assert second.poll() is None
        second.kill()


def test_threads_may_start_programs_at_the_same_time() -> None:
    seen = []

    def begin(number: int) -> None:
        done = run(["-P", "-c", f"print({number})"], capture_output=True, text=True)
        seen.append(done.stdout)

    threads = [threading.Thread(target=begin, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(seen) == [f"{number}\n" for number in range(8)]


def test_a_request_may_be_long() -> None:
    environ = {f"NAME{number}": "x" * 100_000 for number in range(10)}
    code = "import os; print(sum(map(len, os.environ.values())))"
    done = run(["-P", "-c", code], env=environ, capture_output=True, text=True)
    assert done.stdout == "1000000\n"


@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_it_may_have_children(tmp_path: Path, method: str) -> None:
    (tmp_path / "parent.py").write_text(
        "import multiprocessing, os, sys\n"
        "def double(number): return 2 * number, os.getcwd()\n"
        "if __name__ == '__main__':\n"
        "    with multiprocessing.get_context(sys.argv[1]).Pool(1) as pool:\n"
        "        print(*pool.apply(double, (21,)))\n"
    )
    arguments = ["-P", "parent.py", method]
    done = run(arguments, cwd=tmp_path, capture_output=True, text=True, check=True)
    assert done.stdout == f"42 {tmp_path}\n"


def test_its_stdin_may_be_the_terminal_of_its_session() -> None:
    ours, theirs = pty.openpty()
    code = "import sys; print(open('/dev/tty').readline(), sys.stdin.isatty(), end='')"
    with os.fdopen(ours, "wb", buffering=0) as keys, os.fdopen(theirs, "rb", buffering=0) as tty:
        process = start(
            ["-P", "-c", code],
            stdin=tty,
            stdout=PIPE,
            text=True,
            start_new_session=True,
            terminal=True,
        )
        with process:
            keys.write(b"typed\n")
            assert process.communicate(timeout=30)[0] == "typed\n True"
        assert process.returncode == 0


@pytest.mark.parametrize("variable", ["PYTHONWARNINGS", "PYTHONIOENCODING", "LC_ALL"])
def test_what_would_be_ignored_is_refused(variable: str) -> None:
    with pytest.raises(ValueError, match=variable):
        run(["-P", "-c", ""], env={variable: "other"})


STARTER = """
import signal, subprocess, sys
from tests.servers.fork_server import server, start
import os
held = start(["-P", "-c", "import time; time.sleep(600)"])
print(server(os.getpid()).pid, held.pid, flush=True)
input()
"""


@pytest.mark.parametrize("end", ["killed", "ended"])
def test_the_server_and_its_programs_end_with_who_started_it(
    end: str, until: Callable[[Callable[[], bool]], None]
) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", STARTER], cwd=ROOT, stdin=PIPE, stdout=PIPE, stderr=PIPE, text=True
    ) as starter:
        assert starter.stdout is not None and starter.stdin is not None
        pids = starter.stdout.readline().split()
        if end == "killed":
            starter.kill()
        else:
            starter.stdin.write("\n")
            starter.stdin.close()
        starter.wait(30)
        until(lambda: not any(alive(pid) for pid in pids))


@pytest.fixture
def until() -> Callable[[Callable[[], bool]], None]:
    def until(holds: Callable[[], bool]) -> None:
        deadline = time.monotonic() + 30
        while not holds():
            assert time.monotonic() < deadline
            time.sleep(0.01)

    return until


def alive(pid: str) -> bool:
    """Whether it runs; one that nobody has waited for yet does not."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False
