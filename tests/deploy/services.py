"""Each place where deploy/ starts Windlass: its words, variables and settings, and its end."""

import re
import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import click

from tests.deploy.files import (
    DOCKERFILE,
    EXAMPLE,
    KUBERNETES,
    SYSTEMD,
    UNITS,
    compose,
    manifest,
    seconds,
    stages,
    unit,
    variables,
)
from windlass.cli.main import cli

PROGRAM = "/opt/windlass/bin/windlass"


class Start(NamedTuple):
    """One start of Windlass, as its service manager has it."""

    place: str
    words: list[str]
    environ: Mapping[str, str]
    folder: Path
    """where its windlass.toml is"""
    grace: float
    """seconds from the first signal to the one that kills"""

    @property
    def section(self) -> str:
        return self.words[0]


def starts() -> list[Start]:
    return [*of_compose(), *of_kubernetes(), *of_systemd()]


def image_variables() -> dict[str, str]:
    texts = [each.text for each in stages(DOCKERFILE)[-1] if each.name == "ENV"]
    return dict(re.findall(r"(\w+)=(\S+)", " ".join(texts)))


def of_compose() -> list[Start]:
    return [
        Start(
            f"compose.yaml: {name}",
            service["command"],
            image_variables() | service["environment"],
            EXAMPLE,
            seconds(service["stop_grace_period"]),
        )
        for name, service in compose()["services"].items()
        if service["image"] == "windlass"
    ]


def of_kubernetes() -> list[Start]:
    found = []
    for name in ("windlass-server", "windlass-worker"):
        spec = pod(name)
        (container,) = spec["containers"]
        environ = {each["name"]: each.get("value", "redis://redis") for each in container["env"]}
        sleep = container.get("lifecycle", {}).get("preStop", {}).get("exec", {}).get("command")
        grace = spec["terminationGracePeriodSeconds"] - (float(sleep[1]) if sleep else 0)
        found.append(
            Start(
                f"kubernetes: {name}",
                container["args"],
                image_variables() | environ,
                KUBERNETES,
                grace,
            )
        )
    return found


def pod(name: str) -> dict[str, Any]:
    spec: dict[str, Any] = manifest("Deployment", name)["spec"]["template"]["spec"]
    return spec


def of_systemd() -> list[Start]:
    found = []
    for path in UNITS:
        values = unit(path)
        (command,) = values["ExecStart"]
        program, *words = shlex.split(command.replace("%i", "shop"))
        assert program == PROGRAM
        (timeout,) = values["TimeoutStopSec"]
        environ = variables(SYSTEMD / "windlass.env.example")
        found.append(Start(f"systemd: {path.name}", words, environ, EXAMPLE, seconds(timeout)))
    return found


def parsed(words: list[str]) -> dict[str, Any]:
    """The parameters that click reads out of a command line, which is not run."""
    group: click.Group = cli
    context = click.Context(cli, info_name="windlass", **cli.context_settings)
    rest = words
    while True:
        name, command, rest = group.resolve_command(context, list(rest))
        assert command is not None
        with command.make_context(name, list(rest), parent=context) as context:
            if not isinstance(command, click.Group):
                return context.params
            group = command
