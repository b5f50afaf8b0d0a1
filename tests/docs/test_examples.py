"""Every example runs as its first lines say."""

import os
import signal
from pathlib import Path
from subprocess import DEVNULL

import pytest

from tests.docs.pages import ROOT
from tests.docs.programs import PATIENCE
from tests.servers.fork_server import WINDLASS, run, start

EXAMPLES = sorted((ROOT / "examples").glob("*.py"))
NEEDS_A_WORKER = {"hello"}
PRINTED = {
    "hello": "Hello, Ada!\n",
    "retries": (
        "steady: completed after 3 attempts\n"
        "hopeless: dead after 1 attempt: Fatal: no such account\n"
    ),
    "async_producer": "20 pages, 1340 characters\n",
    "workflow": "10 words on 2 pages\n",
    "approval": "parked for answer\n500 euros: yes, says Ada\n",
    "limits": "at a time: {'Ada': 2, 'Bob': 2}\nin order: paid packed sent\n",
    "encryption": "the store can read the card number: False\nthe handler can: ends in 1111\n",
}


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_it_runs(path: Path, tmp_path: Path) -> None:
    environ = os.environ | {
        "PYTHONPATH": str(ROOT / "src"),
        "WINDLASS_URL": f"sqlite:///{tmp_path}/windlass.db",
    }
    worker = None
    if path.stem in NEEDS_A_WORKER:
        worker = start(
            [*WINDLASS, "worker", f"{path.stem}:app"],
            cwd=path.parent,
            env=environ | {"PYTHONDONTWRITEBYTECODE": "1"},
            stdout=DEVNULL,
        )
    try:
        done = run(
            [path],
            cwd=tmp_path,
            env=environ,
            capture_output=True,
            text=True,
            timeout=PATIENCE,
        )
    finally:
        if worker is not None:
            worker.send_signal(signal.SIGTERM)
            assert worker.wait(PATIENCE) == 0
    assert done.returncode == 0, done.stderr
    assert done.stdout == PRINTED[path.stem]


def test_no_example_is_forgotten() -> None:
    assert {path.stem for path in EXAMPLES} == PRINTED.keys()


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_it_says_how_to_run_it(path: Path) -> None:
    text = path.read_text("utf-8")
    assert text.startswith('"""')
    assert f"python {path.name}" in text.split('"""')[1]
