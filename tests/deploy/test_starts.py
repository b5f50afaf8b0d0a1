"""Every start of Windlass in deploy/ is one that Windlass understands."""

import re
from typing import Any

import pytest

from tests.deploy.files import COMPOSE, DEPLOY, DOCKERFILE, EXAMPLE, SYSTEMD, suggested
from tests.deploy.services import Start, image_variables, parsed, starts
from windlass.config import SECTIONS, ServerSettings, WorkerSettings, load
from windlass.config.sources import SHORT, variable_of
from windlass.worker.supervisor import GRACE

EACH = pytest.mark.parametrize("start", starts(), ids=lambda start: start.place)
KNOWN = {"WINDLASS_URL", *SHORT} | {
    variable_of(section, name)
    for section, kind in SECTIONS.items()
    for name in kind.__struct_fields__
}


def flags(start: Start) -> dict[str, Any]:
    """The settings among the options of a command line."""
    fields = SECTIONS[start.section].__struct_fields__
    return {name: value for name, value in parsed(start.words).items() if name in fields}


def settings(start: Start) -> Any:
    """The settings that the process of a start has."""
    return load(SECTIONS[start.section], start.section, flags(start), start.environ, start.folder)


def test_no_place_is_missing() -> None:
    assert sorted(start.place for start in starts()) == [
        "compose.yaml: server",
        "compose.yaml: worker",
        "kubernetes: windlass-server",
        "kubernetes: windlass-worker",
        "systemd: windlass-server.service",
        "systemd: windlass-worker@.service",
    ]


@EACH
def test_its_command_line_can_be_read(start: Start) -> None:
    assert parsed(start.words)


@EACH
def test_its_settings_are_known_ones(start: Start) -> None:
    ours = {name for name in start.environ if name.startswith("WINDLASS_")}
    assert ours <= KNOWN
    assert settings(start)


@EACH
def test_nobody_kills_it_before_it_has_finished(start: Start) -> None:
    made = settings(start)
    match made:
        case ServerSettings():
            needed = made.shutdown_timeout
        case WorkerSettings():
            needed = made.shutdown_timeout + made.hook_timeout
    assert start.grace > needed + GRACE


@EACH
def test_its_ports_are_the_usual_ones(start: Start) -> None:
    if start.section == "server":
        made = settings(start)
        assert made.http_port == ServerSettings().http_port
        assert made.grpc_port == ServerSettings().grpc_port


def test_in_a_container_a_server_can_be_reached_but_not_by_everybody() -> None:
    servers = [start for start in starts() if start.section == "server"]
    contained = [start for start in servers if not start.place.startswith("systemd")]
    assert len(contained) == 2
    for start in servers:
        assert not settings(start).insecure
    for start in contained:
        assert not settings(start).is_local


def test_no_variable_of_ours_is_misspelt_anywhere() -> None:
    for path in DEPLOY.rglob("*"):
        if path.is_file() and "__pycache__" not in path.parts:
            names = re.findall(r"\bWINDLASS_[A-Z_]+\b", path.read_text("utf-8"))
            # An argument of a build, not a variable of the process.
            assert set(names) - {"WINDLASS_IMAGE"} <= KNOWN | {"WINDLASS_SERVER_PORT"}, path


def test_environment_files_have_what_is_asked_of_them() -> None:
    asked = set(re.findall(r"\$\{([A-Z_]+)", COMPOSE.read_text("utf-8"))) | {"PROMETHEUS_KEY"}
    # The last is read by compose itself.
    assert suggested(DEPLOY / ".env.example") == asked | {"COMPOSE_PROFILES"}
    assert suggested(SYSTEMD / "windlass.env.example") <= KNOWN


def test_the_image_is_set_up_for_a_server_alone() -> None:
    ours = [name for name in image_variables() if name.startswith("WINDLASS_")]
    assert ours == ["WINDLASS_SERVER_HOST"]
    assert "WINDLASS_URL" not in DOCKERFILE.read_text("utf-8"), "jobs would be lost with it"


def test_the_app_that_is_started_is_there() -> None:
    for start in starts():
        for module in re.findall(r"\b(\w+):app\b", " ".join(start.words)):
            assert (EXAMPLE / f"{module}.py").exists()
