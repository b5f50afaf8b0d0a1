"""The Pythons of this machine that Windlass is for, with Windlass and the drivers installed."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path

ROOT = Path(__file__).parents[2]

DRIVERS = ("psycopg", "pymysql")
"""What blocking handlers write on; the versions are those of the group for development."""


def versions() -> list[str]:
    """Those that the project names as its own, such as 3.12."""
    classifiers = _project()["project"]["classifiers"]
    return re.findall(r"Python :: (3\.\d+)$", "\n".join(classifiers), re.MULTILINE)


def found() -> Mapping[str, Path | None]:
    """A program for each version, or None if there is none."""
    return {version: next(_programs(version), None) for version in versions()}


def equipped(program: Path, folder: Path) -> Path:
    """A Python that can import Windlass: this one, or an environment made in a folder."""
    if program.samefile(sys.executable) or program == Path(sys.executable):
        return Path(sys.executable)
    _quietly(ROOT / "scripts" / "venv", program, folder)
    wanted = [
        each
        for each in _project()["dependency-groups"]["dev"]
        if re.match(rf"({'|'.join(DRIVERS)})\b(?!2)", each)
    ]
    _quietly(ROOT / "scripts" / "install", folder, "--editable", f"{ROOT}[all]", *wanted)
    return folder / "bin" / "python"


def _programs(version: str) -> Iterator[Path]:
    if version == f"{sys.version_info.major}.{sys.version_info.minor}":
        yield Path(sys.executable)
    if (path := shutil.which(f"python{version}")) and _runs(Path(path), version):
        yield Path(path)
    pyenv = Path(os.environ.get("PYENV_ROOT") or Path.home() / ".pyenv")
    for program in sorted(pyenv.glob(f"versions/{version}.*/bin/python")):
        if _runs(program, version):
            yield program
    uv = shutil.which("uv") or str(Path(sys.executable).with_name("uv"))
    if Path(uv).exists():
        command = [uv, "python", "find", "--no-python-downloads", version]
        answer = subprocess.run(command, capture_output=True, text=True)
        if answer.returncode == 0:
            yield Path(answer.stdout.strip())


def _runs(program: Path, version: str) -> bool:
    """Whether it is what its name says: a shim may stand for a version that is not there."""
    asked = "import sys; print('%d.%d' % sys.version_info[:2])"
    answer = subprocess.run([program, "-c", asked], capture_output=True, text=True)
    return answer.stdout.strip() == version


def _project() -> dict[str, dict[str, dict[str, list[str]]]]:
    return tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))


def _quietly(*command: object) -> None:
    done = subprocess.run([str(each) for each in command], capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(f"{command[0]} failed: {done.stderr or done.stdout}")
