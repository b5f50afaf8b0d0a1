"""Every package that Windlass needs has a lowest and a highest version, which are both tested."""

import tomllib
from pathlib import Path

from packaging.requirements import Requirement

PROJECT = tomllib.loads(Path("pyproject.toml").read_text("utf-8"))["project"]
EXTRAS = PROJECT["optional-dependencies"]


def needed() -> list[Requirement]:
    named = [*PROJECT["dependencies"], *(each for name in EXTRAS for each in EXTRAS[name])]
    return [each for each in map(Requirement, named) if each.name != PROJECT["name"]]


def test_every_package_has_both_bounds() -> None:
    for each in needed():
        operators = sorted(bound.operator for bound in each.specifier)
        assert operators == ["<", ">="], f"{each} needs a lowest and a highest version"


def test_a_package_has_the_same_bounds_wherever_it_is_named() -> None:
    found: dict[str, str] = {}
    for each in needed():
        assert found.setdefault(each.name, str(each.specifier)) == str(each.specifier)


def test_what_is_no_longer_needed_is_not_asked_for() -> None:
    assert "uvicorn" not in {each.name for each in needed()}
