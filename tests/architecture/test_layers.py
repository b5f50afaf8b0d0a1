"""Who may import whom: what breaks the rules is noticed, and they are drawn as they are."""

import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "src" / "windlass"
LINT = """
import sys
from importlinter.cli import lint_imports

sys.exit(lint_imports(no_cache=True))
"""


def test_an_import_that_points_up_is_noticed(tmp_path: Path) -> None:
    """By the contracts of the project, in empty modules; `make check` looks at the real ones."""
    for module in modules_of_the_contracts():
        package = tmp_path.joinpath(*module.split("."))
        package.mkdir(parents=True, exist_ok=True)
        (package / "__init__.py").touch()
    (tmp_path / "windlass" / "core" / "states.py").write_text("from .. import client\n")
    done = subprocess.run(
        [sys.executable, "-c", LINT],
        cwd=ROOT,
        env=os.environ | {"PYTHONPATH": str(tmp_path)},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 1
    assert "windlass.core is not allowed to import windlass.client" in done.stdout
    assert f"Contracts: {len(contracts()) - 1} kept, 1 broken." in done.stdout


def contracts() -> list[dict[str, Any]]:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    found: list[dict[str, Any]] = project["tool"]["importlinter"]["contracts"]
    return found


def modules_of_the_contracts() -> list[str]:
    layers = [
        f"{container}.{name}"
        for contract in contracts()
        for container in contract.get("containers", ())
        for layer in contract["layers"]
        for name in re.findall(r"\w+", layer)
    ]
    return ["windlass", *layers]


def test_the_layers_are_drawn_as_they_are() -> None:
    text = (ROOT / "ARCHITECTURE.md").read_text("utf-8")
    drawn = text.partition("```text\n")[2].partition("```")[0].splitlines()
    assert [re.sub(r"[()]", "", line) for line in drawn] == layers()


def layers() -> list[str]:
    written: list[str] = contracts()[0]["layers"]
    return [re.sub(r"[()]", "", line) for line in written]


def test_the_drawing_tells_what_is_there_from_what_is_not() -> None:
    text = (ROOT / "ARCHITECTURE.md").read_text("utf-8")
    drawn = text.partition("```text\n")[2].partition("```")[0]
    for name in re.findall(r"[\w()]+", drawn):
        module = PACKAGE / name.strip("()")
        exists = module.with_suffix(".py").exists() or (module / "__init__.py").exists()
        assert exists == ("(" not in name), f"{name} in ARCHITECTURE.md"


def test_every_file_that_the_page_names_exists() -> None:
    text = (ROOT / "ARCHITECTURE.md").read_text("utf-8")
    named = re.findall(r"`([\w/]+\.py)`", text)
    assert len(named) > 15
    assert not [path for path in named if not (PACKAGE / path).exists()]
