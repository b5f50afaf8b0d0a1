"""Who may import whom: the rules are kept, would be noticed if not, and are drawn as they are."""

import os
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src"
PACKAGE = SOURCE / "windlass"
LINT = """
import sys
from importlinter.cli import lint_imports

sys.exit(lint_imports(no_cache=True))
"""


def lint(source: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", LINT],
        cwd=ROOT,
        env=os.environ | {"PYTHONPATH": str(source)},
        capture_output=True,
        text=True,
    )


def test_every_import_points_down() -> None:
    done = lint(SOURCE)
    assert done.returncode == 0, done.stdout + done.stderr


def test_an_import_that_points_up_is_noticed(tmp_path: Path) -> None:
    shutil.copytree(PACKAGE, tmp_path / "windlass", ignore=shutil.ignore_patterns("__pycache__"))
    with (tmp_path / "windlass" / "core" / "states.py").open("a") as file:
        file.write("from ..client import Client\n")
    done = lint(tmp_path)
    assert done.returncode == 1
    assert "windlass.core is not allowed to import windlass.client" in done.stdout


def test_the_layers_are_drawn_as_they_are() -> None:
    text = (ROOT / "ARCHITECTURE.md").read_text("utf-8")
    drawn = text.partition("```text\n")[2].partition("```")[0].splitlines()
    assert [re.sub(r"[()]", "", line) for line in drawn] == layers()


def layers() -> list[str]:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    written: list[str] = project["tool"]["importlinter"]["contracts"][0]["layers"]
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
