"""`--help`, `--version`, and how little they load."""

import json
import os
import subprocess
import sys

import pytest

import windlass
from tests.cli.conftest import Call
from tests.cli.program import SOURCE, Program
from windlass.cli.main import COMMANDS

LOADED = """
import json, sys
from windlass.cli.main import cli
try:
    cli.main({words!r}, prog_name="windlass")
except SystemExit as exit:
    print(json.dumps([exit.code, *sys.modules]), file=sys.stderr)
"""


def loaded_by(*words: str) -> set[str]:
    """The modules that a fresh interpreter has after a command."""
    done = subprocess.run(
        [sys.executable, "-c", LOADED.format(words=words)],
        env=os.environ | {"PYTHONPATH": SOURCE},
        capture_output=True,
        text=True,
        check=True,
    )
    code, *modules = json.loads(done.stderr)
    assert code == 0
    return set(modules)


@pytest.mark.parametrize("words", [["--help"], ["--version"]])
def test_help_loads_no_command_no_engine_and_no_rich(words: list[str]) -> None:
    loaded = loaded_by(*words)
    assert "windlass.cli.main" in loaded
    assert not loaded & {f"windlass.cli.{name}" for name in COMMANDS}
    assert not loaded & {"rich", "uvloop", "sqlite3", "windlass.stores.sqlite.store"}


def test_the_help_of_a_command_loads_that_command_and_no_other() -> None:
    loaded = loaded_by("queues", "--help")
    assert {name for name in COMMANDS if f"windlass.cli.{name}" in loaded} == {"queues"}
    assert "rich" not in loaded


def test_help_lists_every_command(call: Call) -> None:
    result = call("--help")
    assert result.exit_code == 0
    for name, summary in COMMANDS.items():
        assert f"  {name} " in result.stdout
        assert summary in result.stdout


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_explains_itself(call: Call, name: str) -> None:
    result = call(name, "--help")
    assert result.exit_code == 0
    assert result.stdout.startswith(f"Usage: windlass {name} ")


def test_the_worker_has_an_option_for_every_setting_with_its_default(call: Call) -> None:
    text = " ".join(call("worker", "--help").stdout.split())
    queues = "queues to serve, with weights as in a:3,b; * serves all"
    assert f"-Q, --queues NAME,NAME {queues} [default: those its tasks name]" in text
    assert "-c, --concurrency N async handlers that run at the same time [default: 100]" in text
    assert "--shutdown-timeout SECONDS how long running jobs" in text


def test_the_version_is_the_packages(program: Program) -> None:
    done = program("--version")
    assert (done.returncode, done.stdout) == (0, f"windlass {windlass.__version__}\n")
