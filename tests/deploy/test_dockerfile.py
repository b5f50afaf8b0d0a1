"""The image is small, is not root's, and has what it needs."""

import re
from fnmatch import fnmatch
from pathlib import Path

import pytest

from tests.deploy.files import (
    DEPLOY,
    DOCKERFILE,
    EXAMPLE,
    PROJECT,
    ROOT,
    Instruction,
    place,
    stages,
)
from windlass import __version__
from windlass.config import ServerSettings

LAST = stages(DOCKERFILE)[-1]
BOTH = [DOCKERFILE, EXAMPLE / "Dockerfile"]


def last(name: str) -> Instruction:
    *_, found = (each for each in LAST if each.name == name)
    return found


def copies(path: Path) -> list[str]:
    """What is copied out of the folder that the build is given."""
    return [
        source
        for stage in stages(path)
        for each in stage
        if each.name in ("COPY", "ADD") and "from" not in each.flags
        for source in each.words[:-1]
    ]


@pytest.mark.parametrize(("path", "folder"), [(BOTH[0], ROOT), (BOTH[1], EXAMPLE)])
def test_what_it_copies_is_there(path: Path, folder: Path) -> None:
    assert copies(path)
    assert all((folder / source).exists() for source in copies(path))


def test_what_it_copies_is_not_ignored_and_nothing_else_is_sent() -> None:
    lines = (ROOT / ".dockerignore").read_text("utf-8").splitlines()
    rules = [line for line in lines if line and not line.startswith("#")]
    assert rules[0] == "*"
    kept = {rule[1:] for rule in rules if rule.startswith("!")}
    assert kept == set(copies(DOCKERFILE))


def test_what_a_stage_takes_from_another_was_made_before() -> None:
    before: set[str] = set()
    for stage in stages(DOCKERFILE):
        taken = {each.flags["from"] for each in stage if "from" in each.flags}
        assert taken <= before
        before.add(stage[0].words[-1])


def test_every_stage_has_the_same_base_which_can_be_chosen() -> None:
    assert "ARG PYTHON_IMAGE=python:3.13-slim\n" in DOCKERFILE.read_text("utf-8")
    assert {stage[0].words[0] for stage in stages(DOCKERFILE)} == {"${PYTHON_IMAGE}"}
    version = "Programming Language :: Python :: 3.13"
    assert version in PROJECT["classifiers"]


def test_its_user_is_a_number_that_is_not_root() -> None:
    user, group = (int(part) for part in last("USER").text.split(":"))
    assert user == group == 10001
    assert LAST.index(last("USER")) > max(
        index for index, each in enumerate(LAST) if each.name in ("RUN", "COPY")
    )
    made = " ".join(each.text for each in LAST if each.name == "RUN")
    assert f"useradd --uid {user} --gid {group}" in made


def test_the_last_stage_installs_nothing() -> None:
    done = " ".join(each.text for each in LAST if each.name == "RUN")
    assert not re.search(r"\b(apt|apt-get|apk|pip|gcc|curl|wget)\b", done)


def test_its_entry_point_is_our_command() -> None:
    (command,) = last("ENTRYPOINT").words
    assert command in PROJECT["scripts"]
    assert last("CMD").words == ["server"]
    assert last("STOPSIGNAL").text == "SIGTERM"


def test_it_has_every_extra_that_there_is() -> None:
    (extras,) = re.findall(r"ARG EXTRAS=(\S+)", DOCKERFILE.read_text("utf-8"))
    assert extras == "all"
    (everything,) = PROJECT["optional-dependencies"]["all"]
    named = re.fullmatch(r"windlass\[(.+)\]", everything)
    assert named and {*named[1].split(","), "all"} == set(PROJECT["optional-dependencies"])


def test_it_says_its_version() -> None:
    (version,) = re.findall(r"ARG VERSION=(\S+)", DOCKERFILE.read_text("utf-8"))
    assert version == __version__
    label = last("LABEL").text
    assert PROJECT["license"] in label and "${VERSION}" in label


def test_its_ports_are_those_of_the_server() -> None:
    ports = [int(port) for port in last("EXPOSE").words]
    assert ports == [ServerSettings().http_port, ServerSettings().grpc_port]


def test_its_health_check_is_a_file_that_it_has() -> None:
    command = last("HEALTHCHECK").text.partition("CMD ")[2]
    program, script = Instruction("CMD", command).words
    assert program == "python"
    assert script in [each.words[-1] for each in LAST if each.name == "COPY"]
    assert (DEPLOY / "health.py").exists()


@pytest.mark.parametrize("path", BOTH, ids=place)
def test_nothing_secret_is_built_in(path: Path) -> None:
    text = path.read_text("utf-8")
    assert not re.search(r"(?i)^\s*(ENV|ARG) .*(password|secret|token|key)", text, re.MULTILINE)


@pytest.mark.parametrize("name", [".env", ".git", ".venv", "deploy/.env", "tests"])
def test_secrets_and_large_folders_are_not_sent_to_the_builder(name: str) -> None:
    lines = (ROOT / ".dockerignore").read_text("utf-8").splitlines()
    kept = [line[1:] for line in lines if line.startswith("!")]
    assert not any(fnmatch(name, rule) or name.startswith(f"{rule}/") for rule in kept)
