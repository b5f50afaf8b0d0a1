"""Runs a page as its reader would, in a folder of its own and on a SQLite file in it.

- A Python block runs in one namespace with those before it.
- A block with a title (`python title="myapp.py"`) is written to that file.
- A `windlass` command in a shell block runs for real; a worker stays until the page ends.
- A text block right after any of these is what they printed; `...` stands for anything.
- Other shell commands are only looked at: see `test_commands.py`.
"""

import contextlib
import doctest
import io
import os
import shlex
import signal
import subprocess
import sys
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from tests.docs.pages import ROOT, Block, blocks, commands
from windlass import Windlass

PATIENCE = 30
"""Seconds for a command, or for a worker to stop."""

PROGRAM = [sys.executable, "-P", "-c", "from windlass.cli.main import main; main()"]
NOT_RUN = ("demo",)
"""Too long for a test of the documentation; they have tests of their own."""


class Session:
    """A reader with a shell and an interpreter."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._names: dict[str, Any] = {"__name__": "__main__"}
        self._workers: list[subprocess.Popen[str]] = []
        self._printed = ""
        self._environ = os.environ | {"PYTHONPATH": str(ROOT / "src")}

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        ends = [_stop(worker) for worker in self._workers]
        for app in self._apps():
            app.close()
        for name, module in list(sys.modules.items()):
            if str(getattr(module, "__file__", None)).startswith(str(self._folder)):
                del sys.modules[name]
        if error is None:
            assert all(code == 0 for code, _ in ends), "\n".join(text for _, text in ends)

    def run(self, page: Path) -> None:
        for block in blocks(page):
            place = f"{os.path.relpath(page, ROOT)}:{block.line}"
            match block:
                case Block("python", None):
                    self._run_python(block, place)
                case Block(_, str(title)):
                    (self._folder / title).write_text(block.text, "utf-8")
                case Block("sh"):
                    self._run_shell(block, place)
                case Block("text"):
                    self._compare(block, place)

    def _run_python(self, block: Block, place: str) -> None:
        # Blank lines in front make the line numbers of a traceback those of the page.
        code = compile("\n" * (block.line - 1) + block.text, place, "exec", dont_inherit=True)
        with contextlib.redirect_stdout(io.StringIO()) as printed:
            exec(code, self._names)
        self._printed = printed.getvalue()

    def _run_shell(self, block: Block, place: str) -> None:
        self._printed = ""
        for command in commands(block):
            words = shlex.split(command, comments=True)
            if words[:2] == ["windlass", "worker"]:
                self._start(words[1:])
            elif words[0] == "windlass" and words[1] not in NOT_RUN:
                done = self._call(words[1:])
                assert done.returncode == 0, f"{place}: {command}\n{done.stdout}{done.stderr}"
                self._printed += done.stdout

    def _call(self, words: list[str]) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [*PROGRAM, *words],
            cwd=self._folder,
            env=self._environ | {"WINDLASS_URL": os.environ["WINDLASS_URL"]},
            capture_output=True,
            text=True,
            timeout=PATIENCE,
        )

    def _start(self, words: list[str]) -> None:
        self._workers.append(
            subprocess.Popen(
                [*PROGRAM, *words],
                cwd=self._folder,
                env=self._environ | {"WINDLASS_URL": os.environ["WINDLASS_URL"]},
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
            )
        )

    def _compare(self, block: Block, place: str) -> None:
        checker = doctest.OutputChecker()
        flags = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
        if not checker.check_output(block.text, self._printed, flags):
            raise AssertionError(f"{place}: expected\n{block.text}\nbut got\n{self._printed}")

    def _apps(self) -> list[Windlass]:
        values = list(self._names.values())
        for module in list(sys.modules.values()):
            if str(getattr(module, "__file__", None)).startswith(str(self._folder)):
                values += vars(module).values()
        return [value for value in values if isinstance(value, Windlass)]


def _stop(worker: subprocess.Popen[str]) -> tuple[int, str]:
    """Stop a worker as a service manager would; its exit code and all that it printed."""
    assert worker.stdout is not None
    # A signal that comes before the greeting may find no one who listens.
    greeting = worker.stdout.readline()
    worker.send_signal(signal.SIGTERM)
    try:
        rest, _ = worker.communicate(timeout=PATIENCE)
    except subprocess.TimeoutExpired:
        worker.kill()
        rest, _ = worker.communicate()
    return worker.returncode, greeting + rest
