"""The units are understood by systemd, and give services little and time enough."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.deploy.files import EXAMPLE, SYSTEMD, UNITS, place, unit
from tests.deploy.services import PROGRAM, of_systemd
from tests.servers.binaries import binary
from windlass.config import WorkerSettings

EACH = pytest.mark.parametrize("path", UNITS, ids=place)
ON_LINUX = pytest.mark.skipif(sys.platform != "linux", reason="systemd is a part of Linux")

MOST_EXPOSED = 20
"""In tenths; systemd calls 10.0 unsafe, and what is below 2.0 well guarded."""


def analyze(*words: str | Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run([binary("systemd-analyze"), *words], capture_output=True, text=True)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """The units, with a program that is there."""
    for path in UNITS:
        text = path.read_text("utf-8").replace(PROGRAM, binary("true"))
        (tmp_path / path.name).write_text(text, "utf-8")
    return tmp_path


@ON_LINUX
@EACH
def test_systemd_understands_it(path: Path, folder: Path) -> None:
    done = analyze("verify", "--man=no", "--recursive-errors=no", folder / path.name)
    assert (done.returncode, done.stdout + done.stderr) == (0, "")


@ON_LINUX
def test_a_key_that_systemd_does_not_know_is_noticed(folder: Path) -> None:
    wrong = folder / "wrong.service"
    text = (folder / "windlass-server.service").read_text("utf-8")
    wrong.write_text(text.replace("ProtectHome", "ProtectHouse"), "utf-8")
    done = analyze("verify", "--man=no", "--recursive-errors=no", wrong)
    assert done.returncode == 1
    assert "ProtectHouse" in done.stderr


@ON_LINUX
@EACH
def test_it_is_hardly_exposed(path: Path, folder: Path) -> None:
    threshold = f"--threshold={MOST_EXPOSED}"
    done = analyze("security", "--offline=true", "--no-pager", threshold, folder / path.name)
    assert done.returncode == 0, done.stdout + done.stderr


@EACH
def test_it_runs_as_nobody_in_particular_and_gains_nothing(path: Path) -> None:
    values = unit(path)
    assert values["User"] == values["Group"] == ["windlass"]
    assert values["NoNewPrivileges"] == ["yes"]
    assert values["ProtectSystem"] == ["strict"]
    assert values["CapabilityBoundingSet"] == [""]
    assert "\nu windlass " in (SYSTEMD / "windlass.sysusers").read_text("utf-8")


@EACH
def test_it_is_asked_to_stop_and_started_again_after_a_crash(path: Path) -> None:
    values = unit(path)
    assert values["KillSignal"] == ["SIGTERM"]
    assert values["KillMode"] == ["mixed"]
    assert values["Restart"] == ["on-failure"]
    # A store that is away for an hour must not leave it stopped.
    assert values["StartLimitIntervalSec"] == ["0"]


@EACH
def test_its_secrets_are_in_a_file(path: Path) -> None:
    values = unit(path)
    assert "/etc/windlass/windlass.env" in values["EnvironmentFile"]
    assert "Environment" not in values
    example = SYSTEMD / "windlass.env.example"
    assert "/etc/windlass/windlass.env" in example.read_text("utf-8")


def test_a_worker_that_can_be_reloaded_has_a_supervisor() -> None:
    (path,) = (each for each in UNITS if "worker" in each.name)
    assert unit(path)["ExecReload"] == ["/bin/kill -HUP $MAINPID"]
    (start,) = (each for each in of_systemd() if each.section == "worker")
    # By an option, so that no file can take it back: alone, a worker dies of SIGHUP.
    assert start.words[:2] == ["worker", f"{EXAMPLE.joinpath('shop.py').stem}:app"]
    processes = int(start.words[start.words.index("--processes") + 1])
    assert WorkerSettings(processes=processes).is_supervised


def test_a_server_is_not_reloaded() -> None:
    (path,) = (each for each in UNITS if "server" in each.name)
    assert "ExecReload" not in unit(path)
