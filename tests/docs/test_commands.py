"""Every command that the documentation shows is a real one."""

import re
import shlex
import tomllib
from pathlib import Path

import click
import pytest

from tests.docs.pages import KEPT, PAGES, ROOT, blocks, commands, name_of, page, table
from windlass.cli.main import COMMANDS, cli

SHOWN = [
    pytest.param(command, id=f"{name_of(page)}: {command}")
    for page in PAGES
    for block in blocks(page)
    if block.language in ("sh", "")
    for command in commands(block)
]


@pytest.mark.parametrize("command", SHOWN)
def test_it_exists(command: str) -> None:
    kept = KEPT.fullmatch(command)
    words = shlex.split(command if kept is None else kept["command"], comments=True)
    match words:
        case ["windlass", *arguments]:
            parse(arguments)
        case ["curl", *_]:
            assert "localhost:" in command, "see test_http.py for those of a server"
        case ["make", target]:
            assert re.search(rf"^{target}:.*##", (ROOT / "Makefile").read_text(), re.MULTILINE)
        case ["make", "test" | "quick", arguments]:
            assert arguments.startswith("ARGS=")
        case ["pip", "install", package]:
            assert extras(package) <= known_extras()
        case ["export", setting]:
            assert setting.startswith("WINDLASS_")
        case ["python", path]:
            assert (ROOT / path).exists() or path.isidentifier()
        case _:
            raise AssertionError(f"{command!r} is no command that can be checked")


def parse(arguments: list[str]) -> None:
    """Let click read a command line, without running it."""
    with click.Context(cli, info_name="windlass", **cli.context_settings) as context:
        resolve(cli, context, list(arguments))


def resolve(group: click.Group, context: click.Context, words: list[str]) -> None:
    name, command, rest = group.resolve_command(context, words)
    assert command is not None
    with command.make_context(name, list(rest), parent=context) as inner:
        if isinstance(command, click.Group) and (
            not command.invoke_without_command or command.commands.keys() & {*rest}
        ):
            resolve(command, inner, rest)


def test_a_wrong_command_is_noticed() -> None:
    for wrong in (
        ["wroker"],
        ["jobs", "--sate", "dead"],
        ["job"],
        ["jobs", "--state", "lost"],
        ["dead", "lst"],
        ["dead", "list", "--state", "dead"],
    ):
        with pytest.raises(click.ClickException):
            parse(wrong)


def test_every_command_is_shown_somewhere() -> None:
    with click.Context(cli, **cli.context_settings) as context:
        known = set(cli.list_commands(context))
    shown = {
        str(param.values[0]).split()[1] for param in SHOWN if "windlass " in str(param.values[0])
    }
    assert known <= shown


def every_command() -> dict[str, click.Command]:
    """Each command by its heading in the reference; those of a group are one level deeper."""
    found: dict[str, click.Command] = {}
    with click.Context(cli, **cli.context_settings) as context:
        for name in COMMANDS:
            command = cli.get_command(context, name)
            assert command is not None
            found[f"## {name}"] = command
            if isinstance(command, click.Group):
                found |= {f"### {name} {inner}": made for inner, made in command.commands.items()}
    return found


@pytest.mark.parametrize(("heading", "command"), every_command().items())
def test_the_reference_has_every_option(heading: str, command: click.Command) -> None:
    options = [param for param in command.params if isinstance(param, click.Option)]
    known = [name for option in options for name in option.opts]
    rows = table(page("docs/reference/cli.md"), f"\n{heading}")
    listed = [option for row in rows for option in re.findall(r"`(.+?)`", row[0])]
    assert sorted(listed) == sorted(known)


def test_the_reference_has_every_command() -> None:
    headings = re.findall(r"^##+ .+$", page("docs/reference/cli.md"), re.MULTILINE)
    assert headings == list(every_command())


def extras(package: str) -> set[str]:
    match = re.fullmatch(r"(?:windlass|\.)(?:\[(.+)\])?", package)
    assert match, f"{package!r} is not windlass"
    return set((match[1] or "").split(",")) - {""}


def known_extras() -> set[str]:
    project = tomllib.loads(Path(ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    return set(project["optional-dependencies"])
