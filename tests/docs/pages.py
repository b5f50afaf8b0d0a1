"""The pages of the documentation, and what is in them."""

import re
import shlex
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[2]
PAGES = [
    *(
        ROOT / name
        for name in (
            "README.md",
            "ARCHITECTURE.md",
            "CHANGELOG.md",
            "CONTRIBUTING.md",
            "SECURITY.md",
        )
    ),
    *sorted((ROOT / "docs").rglob("*.md")),
]
LANGUAGES = {"python", "sh", "sql", "text", "toml", "mermaid", "js", "console", ""}
"""`console` has commands of other programs, which nobody runs here."""

KEPT = re.compile(r"(?P<name>[A-Z_]+)=\$\((?P<command>windlass .+)\)")
"""A command whose output a shell is to keep."""

_FENCE = re.compile(r"^```(?P<language>\w*)(?: title=\"(?P<title>[^\"]+)\")?$")


class Block(NamedTuple):
    """What stands between two fences; `line` is the number of its first line."""

    language: str
    title: str | None
    line: int
    text: str


def name_of(page: Path) -> str:
    return page.relative_to(ROOT).as_posix()


def page(name: str) -> str:
    return (ROOT / name).read_text("utf-8")


def blocks(path: Path) -> list[Block]:
    """The fenced blocks of a page, in order."""
    found: list[Block] = []
    opened: tuple[str, str | None, int] | None = None
    body: list[str] = []
    for number, line in enumerate(path.read_text("utf-8").splitlines(), 1):
        fence = _FENCE.match(line)
        if opened is not None and line == "```":
            found.append(Block(*opened, "\n".join(body) + "\n"))
            opened = None
        elif opened is not None:
            body.append(line)
        elif fence is not None:
            opened = (fence["language"], fence["title"], number + 1)
            body = []
        else:
            assert "```" not in line, f"{path}:{number} is a fence that cannot be read"
    assert opened is None, f"a block of {path} has no end"
    return found


def prose(path: Path) -> str:
    """A page without its blocks."""
    return re.sub(r"^```.*?^```$", "", path.read_text("utf-8"), flags=re.DOTALL | re.MULTILINE)


def commands(block: Block) -> list[str]:
    """The commands of a shell block: a line each, or more where a backslash or a quote says so."""
    found, begun = [], ""
    for line in block.text.replace("\\\n", "").splitlines():
        begun += f"\n{line}" if begun else line.strip()
        if _is_whole(begun):
            found.append(begun)
            begun = ""
    assert not begun, f"a quote has no end: {begun}"
    return [command for command in found if command and not command.startswith("#")]


def _is_whole(command: str) -> bool:
    try:
        shlex.split(command, comments=True)
    except ValueError:
        return False
    return True


def table(text: str, heading: str) -> list[list[str]]:
    """The rows of the first table below a heading, without its head."""
    _, found, rest = text.partition(f"{heading}\n")
    assert found, f"there is no heading {heading!r}"
    section = re.split(r"^#", rest, maxsplit=1, flags=re.MULTILINE)[0]
    rows = [line.strip().strip("|") for line in section.splitlines() if line.startswith("|")]
    return [[cell.strip() for cell in re.split(r"(?<!\\)\|", row)] for row in rows[2:]]
