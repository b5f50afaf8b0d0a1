"""Runs a page as its reader would, in a folder of its own and on a SQLite file in it.

- A Python block runs in one namespace with those before it.
- A block with a title (`python title="myapp.py"`) is written to that file.
- A `windlass` command in a shell block runs for real; a worker or a server stays until the page
  ends, and a server is reached at the ports that the page names. So does `curl`.
- `NAME=$(windlass …)` keeps what a command printed, for `curl` to use.
- A text block right after any of these is what they printed; `...` stands for anything.
- Other shell commands are only looked at: see `test_commands.py`.
"""

import contextlib
import doctest
import io
import os
import shlex
import subprocess
import sys
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from tests.docs.pages import KEPT, ROOT, Block, blocks, commands
from tests.docs.programs import PATIENCE, Ports, Program
from tests.servers.fork_server import WINDLASS, run
from windlass import Windlass

STAYING = {"worker": "", "server": "serving"}
"""Commands that stay, and what they say when others can go on."""

NOT_RUN = (["demo"], ["top"])
"""Too long for a test of the documentation, or for a terminal; they have tests of their own."""


class Session:
    """A reader with a shell and an interpreter."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._names: dict[str, Any] = {"__name__": "__main__"}
        self._programs: list[Program] = []
        self._kept: dict[str, str] = {}
        self._ports = Ports()
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
        ends = [program.stop() for program in self._programs]
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
                    (self._folder / title).write_text(self._ports.put(block.text), "utf-8")
                case Block("sh"):
                    self._run_shell(block, place)
                case Block("text"):
                    self._compare(block, place)

    def _run_python(self, block: Block, place: str) -> None:
        # Blank lines in front make the line numbers of a traceback those of the page.
        text = "\n" * (block.line - 1) + self._ports.put(block.text)
        code = compile(text, place, "exec", dont_inherit=True)
        with contextlib.redirect_stdout(io.StringIO()) as printed:
            exec(code, self._names)
        self._printed = printed.getvalue()

    def _run_shell(self, block: Block, place: str) -> None:
        self._printed = ""
        for line in commands(block):
            command = self._ports.put(line)
            words = shlex.split(command, comments=True)
            kept = KEPT.fullmatch(command)
            if kept is not None:
                words = shlex.split(kept["command"])
                self._kept[kept["name"]] = self._call(words, line, place).strip()
            elif words[0] == "curl":
                self._printed += self._call(["sh", "-c", command], line, place)
            elif words[0] == "windlass" and words[1] in STAYING:
                self._start(words[1:])
            elif words[0] == "windlass" and words[1:] not in NOT_RUN:
                self._printed += self._call(words, line, place)

    def _call(self, words: list[str], line: str, place: str) -> str:
        """What a command prints; an answer of HTTP need not end with a line of its own."""
        environ = self._environ | self._kept | {"WINDLASS_URL": os.environ["WINDLASS_URL"]}
        if words[0] == "windlass":
            done = run(
                [*WINDLASS, *words[1:]],
                cwd=self._folder,
                env=environ,
                capture_output=True,
                text=True,
                timeout=PATIENCE,
            )
        else:
            done = subprocess.run(
                words,
                cwd=self._folder,
                env=environ,
                capture_output=True,
                text=True,
                timeout=PATIENCE,
            )
        assert done.returncode == 0, f"{place}: {line}\n{done.stdout}{done.stderr}"
        return done.stdout if done.stdout.endswith("\n") else f"{done.stdout}\n"

    def _start(self, words: list[str]) -> None:
        environ = self._environ | {"WINDLASS_URL": os.environ["WINDLASS_URL"]}
        program = Program(words, self._folder, environ | self._ports.environ())
        self._programs.append(program)
        greeting = STAYING[words[0]]
        assert not greeting or program.read_until(greeting), program.stop()[1]

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
