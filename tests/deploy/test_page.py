"""What the page about deploying says can be done."""

import re
import shlex

import pytest

from tests.deploy.files import DEPLOY, ROOT, UNITS, compose
from tests.deploy.services import parsed
from tests.docs.pages import blocks, commands, page
from windlass.config import ServerSettings

NAME = "docs/howto/deploy.md"
TEXT = page(NAME)
LINES = [
    shlex.split(line)
    for block in blocks(ROOT / NAME)
    if block.language == "text" and not block.text.startswith(("{", "GET", "upstream"))
    for line in commands(block)
]


def test_every_file_that_it_names_is_there() -> None:
    named = set(re.findall(r"\bdeploy/[\w./@-]*[\w]", TEXT)) - {"deploy/windlass-worker"}
    assert len(named) > 8
    assert not [name for name in named if not (ROOT / name).exists()]


@pytest.mark.parametrize("words", LINES, ids=shlex.join)
def test_its_commands_are_of_programs_that_it_is_about(words: list[str]) -> None:
    match words:
        case ["docker", "compose", "run", "--rm", service, *rest]:
            assert service in compose()["services"]
            parsed(rest)
        case ["docker", "compose", "up", *_] | ["docker", "build", *_]:
            pass
        case ["kubectl", *_] if "exec" in words:
            program, *rest = words[words.index("--") + 1 :]
            assert program == "windlass"
            parsed(rest)
        case ["kubectl", *_] | ["systemd-sysusers"]:
            pass
        case ["systemctl", "daemon-reload"]:
            pass
        case ["systemctl", "enable", "--now", *units]:
            known = {path.stem for path in UNITS}
            assert {re.sub("@.*", "@", unit) for unit in units} == known
        case ["cp" | "install", *names]:
            sources = [name for name in names[:-1] if not name.startswith("-")]
            assert all((ROOT / name).exists() or (DEPLOY / name).exists() for name in sources)
        case ["cd", "deploy"] | ["python3", "-m", "venv", "/opt/windlass"]:
            pass
        case ["/opt/windlass/bin/pip", "install", _]:
            pass
        case _:
            raise AssertionError(f"{words} is no command that can be checked")


def test_the_proxy_waits_longer_than_the_server_and_gives_up_idle_connections_first() -> None:
    settings = ServerSettings()
    waits = [int(each) for each in re.findall(r"_(?:read|send)_timeout (\d+)s;", TEXT)]
    idle = [int(each) for each in re.findall(r"keepalive_timeout (\d+)s;", TEXT)]
    assert len(waits) == 3 and min(waits) > settings.max_wait + settings.request_timeout
    assert len(idle) == 2 and max(idle) < settings.keep_alive
    assert f"{settings.max_wait + settings.request_timeout:g} seconds by default" in TEXT
    assert f"{settings.keep_alive:g} seconds by default" in TEXT


def test_the_proxy_lets_through_what_the_server_takes() -> None:
    (size,) = re.findall(r"client_max_body_size (\d+)m;", TEXT)
    assert int(size) * 1024 * 1024 >= ServerSettings().max_body
    assert "proxy_buffering off;" in TEXT


def test_the_proxy_knows_the_ports() -> None:
    ports = {int(port) for port in re.findall(r"server 10\.0\.0\.\d:(\d+);", TEXT)}
    assert ports == {ServerSettings().http_port, ServerSettings().grpc_port}
