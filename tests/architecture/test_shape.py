"""The shape of the code: how long files are, what they are called, what the package offers."""

import re
import tomllib
from pathlib import Path

import windlass
from benchmarks.__main__ import NAMES as BENCHMARKS

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src" / "windlass"

LIMIT = 400
FROZEN = {
    "stores/memory/store.py": 530,
    "testing/model.py": 540,
}
"""Files over the limit, each with the length that it may not pass. Add none.

The one is the specification of a store and the other the machine that compares a store with
it: each is read from top to bottom, and in parts would say less.
"""

DOCSTRING = re.compile(r'(?:#.*\n|\s*\n)*r?"""\s*\S')
"""How a module begins that has one, as the formatter writes it."""

LONGEST_TEST = 500

VAGUE = {"utils", "util", "helpers", "helper", "common", "misc", "manager", "managers"}


def modules() -> list[Path]:
    return [
        path for path in sorted(SOURCE.rglob("*.py")) if not path.stem.endswith(("_pb2", "_grpc"))
    ]


def length(path: Path) -> int:
    return len(path.read_text("utf-8").splitlines())


def test_no_file_is_too_long() -> None:
    lengths = {path.relative_to(SOURCE).as_posix(): length(path) for path in modules()}
    too_long = {name: n for name, n in lengths.items() if n > FROZEN.get(name, LIMIT)}
    assert not too_long, f"split these, by what they are about: {too_long}"


def test_no_test_file_is_too_long() -> None:
    too_long = [path for path in (ROOT / "tests").rglob("*.py") if length(path) > LONGEST_TEST]
    assert not too_long


def test_only_files_over_the_limit_are_frozen() -> None:
    short = [name for name in FROZEN if length(SOURCE / name) <= LIMIT]
    assert not short, f"take these off the list: {short}"


def test_no_module_has_a_vague_name() -> None:
    files = [*SOURCE.rglob("*"), *(ROOT / "tests").rglob("*"), *(ROOT / "benchmarks").rglob("*")]
    vague = [path for path in files if path.stem.lstrip("_") in VAGUE]
    assert not vague, "a file is a noun that says what is in it"


def test_every_module_says_what_it_is_for() -> None:
    assert not [path for path in modules() if not DOCSTRING.match(path.read_text("utf-8"))]


def test_every_benchmark_can_be_run_by_its_name() -> None:
    files = (ROOT / "benchmarks").glob("*.py")
    measure = {path.stem for path in files if "\ndef lines(" in path.read_text("utf-8")}
    assert measure == set(BENCHMARKS)


def test_all_is_sorted() -> None:
    assert windlass.__all__ == sorted(windlass.__all__)


def test_everything_in_all_is_there() -> None:
    assert all(hasattr(windlass, name) for name in windlass.__all__)


def test_the_version_is_kept_in_one_place() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    assert project["project"]["dynamic"] == ["version"]
    assert "version" not in project["project"]
    kept = ROOT / project["tool"]["hatch"]["version"]["path"]
    written = re.findall(r'^__version__ = "(.+)"$', kept.read_text("utf-8"), re.MULTILINE)
    assert written == [windlass.__version__]
    assert re.fullmatch(r"\d+\.\d+\.\d+(?:(?:a|b|rc|\.dev)\d+)?", windlass.__version__)


def test_the_changelog_begins_with_what_is_not_released() -> None:
    text = (ROOT / "CHANGELOG.md").read_text("utf-8")
    headings = re.findall(r"^## \[(.+?)\]", text, re.MULTILINE)
    assert headings[0] == "Unreleased"
    assert len(headings) == 1 or headings[1] == windlass.__version__
