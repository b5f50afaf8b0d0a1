"""Output that nobody takes: a reader that left, a full disk, a closed stream."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.program import COMMAND, PATIENCE, Program
from windlass import Windlass


@pytest.fixture
def filled(program: Program) -> Program:
    app = Windlass(program.url)

    @app.task
    def nothing() -> None: ...

    app.enqueue_many(nothing.call() for _ in range(2_000))
    app.close()
    return program


@pytest.mark.parametrize("words", [["jobs"], ["jobs", "--json"], ["queues"], ["--help"]])
def test_it_ends_quietly_when_the_reader_has_left(filled: Program, words: list[str]) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    with filled.started(*words, stdout=writing) as process:
        os.close(writing)
        _, said = process.communicate(timeout=PATIENCE)
    assert (process.returncode, said) == (1, "")


def test_it_ends_quietly_when_the_reader_leaves_after_one_line(filled: Program) -> None:
    with filled.started("jobs", "-n", "2000", stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stdout.readline().split()[0] == "id"
        process.stdout.close()
        # 0 if the pipe had room for everything.
        assert process.wait(timeout=PATIENCE) in (0, 1)
        assert process.stderr is not None
        assert process.stderr.read() == ""


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="/dev/full is Linux's")
@pytest.mark.parametrize("words", [["jobs"], ["jobs", "--json"], ["--help"]])
def test_a_full_disk_is_one_sentence(filled: Program, words: list[str]) -> None:
    with open("/dev/full", "wb") as full, filled.started(*words, stdout=full.fileno()) as process:
        _, said = process.communicate(timeout=PATIENCE)
    assert (process.returncode, said) == (1, "windlass: No space left on device: the output.\n")


@pytest.mark.skipif(sys.platform == "win32", reason="needs a shell")
def test_a_closed_stdout_is_no_error(filled: Program) -> None:
    done = subprocess.run(
        ["sh", "-c", 'exec "$@" >&-', "sh", *COMMAND, "queues"],
        cwd=filled.folder,
        env=filled.environ,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
    )
    assert (done.returncode, done.stderr) == (0, "")
