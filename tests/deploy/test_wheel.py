"""The image's wheel, made of no more than what the Dockerfile copies, has the whole package."""

import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

from tests.deploy.files import DOCKERFILE, PROJECT, ROOT, stages

SOURCE = ROOT / "src" / "windlass"


def test_a_wheel_is_built_as_the_dockerfile_builds_it(tmp_path: Path) -> None:
    folder = tmp_path / "source"
    folder.mkdir()
    for each in stages(DOCKERFILE)[0]:
        if each.name == "COPY":
            *sources, target = each.words
            for source in sources:
                copy(ROOT / source, folder / target)
    done = subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "--target", "wheel"],
        cwd=folder,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    (wheel,) = (folder / "dist").glob("*.whl")
    with zipfile.ZipFile(wheel) as packed:
        names = set(packed.namelist())
        (entries,) = (name for name in names if name.endswith("entry_points.txt"))
        assert f"windlass = {PROJECT['scripts']['windlass']}" in packed.read(entries).decode()
    files = [path for path in (folder / "src" / "windlass").rglob("*") if path.is_file()]
    assert files
    assert {
        f"windlass/{path.relative_to(folder / 'src/windlass').as_posix()}" for path in files
    } <= names


def copy(source: Path, target: Path) -> None:
    if source.is_dir():
        shutil.copytree(source, target, ignore=shutil.ignore_patterns("__pycache__"))
    else:
        shutil.copy(source, target)
