"""`windlass demo`: what a newcomer sees first."""

import contextlib
import os
import pty
import signal
import time
from io import FileIO
from pathlib import Path

import pytest

from tests.cli.program import PATIENCE, Program
from windlass.cli.demo import compare
from windlass.cli.demo_shop import EXPECTED, Tally
from windlass.cli.refusal import Refusal

HIDE_CURSOR, SHOW_CURSOR = b"\x1b[?25l", b"\x1b[?25h"


def test_it_runs_sums_up_and_leaves_nothing_behind(program: Program, tmp_path: Path) -> None:
    folder = tmp_path / "50% off #1"
    folder.mkdir()
    before = time.monotonic()
    done = program("demo", environ={"TMPDIR": str(folder)})
    assert (done.returncode, done.stderr) == (0, "")
    assert time.monotonic() - before < 30
    assert list(folder.iterdir()) == []
    assert not (tmp_path / "jobs.db").exists()
    introduction, progress, summary, last, dead, following = done.stdout.split("\n\n")
    assert introduction.startswith("A small shop, about 2,680 jobs on a SQLite file")
    assert dead.startswith("The 10 dead jobs have failed for good, on purpose.")
    assert "docs/tutorial.md" in following and "windlass server" in following
    assert len(progress.splitlines()) > 2
    assert "\x1b" not in done.stdout
    head, *rows = (line.split() for line in summary.splitlines())
    assert head == ["task", "jobs", "completed", "dead", "retries"]
    assert rows == [[task, *(f"{n:,}" for n in EXPECTED[task])] for task in sorted(EXPECTED)]
    assert last.startswith("2,680 jobs in 2,726 runs and ")


def test_it_has_jobs_of_every_kind() -> None:
    total = sum(EXPECTED.values(), Tally())
    assert total.jobs == total.completed + total.dead
    assert min(total) > 0


def test_it_notices_a_wrong_outcome() -> None:
    compare(EXPECTED, EXPECTED)
    wrong = {**EXPECTED, "ship_to": Tally(5, completed=1, dead=4)}
    with pytest.raises(Refusal, match="ship_to should have come to"):
        compare(wrong, EXPECTED)
    missing = {task: tally for task, tally in EXPECTED.items() if task != "ship_to"}
    with pytest.raises(Refusal, match="came to None"):
        compare(missing, EXPECTED)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_it_shows_a_live_view_on_a_terminal_and_cleans_up_when_it_is_ended(
    program: Program, tmp_path: Path, number: int
) -> None:
    folder = tmp_path / "temporary"
    folder.mkdir()
    ours, theirs = pty.openpty()
    environ = {"TMPDIR": str(folder), "TERM": "xterm-256color"}
    with (
        os.fdopen(ours, "rb", buffering=0) as screen,
        program.started("demo", stdout=theirs, environ=environ) as demo,
    ):
        os.close(theirs)
        seen = b""
        while b"jobs done" not in seen:
            seen += screen.read(65536)
        assert HIDE_CURSOR in seen
        assert [path.name[:14] for path in folder.iterdir()] == ["windlass-demo-"]
        demo.send_signal(number)
        seen += rest(screen)
        assert demo.wait(timeout=PATIENCE) == 1
    assert list(folder.iterdir()) == []
    assert seen.rindex(SHOW_CURSOR) > seen.rindex(HIDE_CURSOR)


def rest(screen: FileIO) -> bytes:
    """What a terminal gets until its last process has ended."""
    seen = b""
    with contextlib.suppress(OSError):  # which is how a terminal says that
        while piece := screen.read(65536):
            seen += piece
    return seen
