"""The files of deploy/, read as the programs that they are for read them."""

import json
import re
import shlex
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import yaml

ROOT = Path(__file__).parents[2]
DEPLOY = ROOT / "deploy"
EXAMPLE = DEPLOY / "example"
DOCKERFILE = DEPLOY / "Dockerfile"
COMPOSE = DEPLOY / "compose.yaml"
KUBERNETES = DEPLOY / "kubernetes"
SYSTEMD = DEPLOY / "systemd"
UNITS = sorted(SYSTEMD.glob("*.service"))
YAML = sorted(path for path in DEPLOY.rglob("*") if path.suffix in (".yaml", ".yml"))

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]


def place(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def documents(path: Path) -> list[dict[str, Any]]:
    """Each document of a YAML file."""
    return list(yaml.safe_load_all(path.read_text("utf-8")))


def compose() -> dict[str, Any]:
    return documents(COMPOSE)[0]


def manifests() -> Iterator[tuple[Path, dict[str, Any]]]:
    """What Kubernetes gets, and what only kubectl reads."""
    for path in sorted(KUBERNETES.rglob("*.yaml")):
        for document in documents(path):
            yield path, document


def manifest(kind: str, name: str) -> dict[str, Any]:
    (found,) = (
        document
        for _, document in manifests()
        if document["kind"] == kind and document["metadata"]["name"] == name
    )
    return found


class Instruction(NamedTuple):
    """A line of a Dockerfile, with those that it goes on in."""

    name: str
    text: str

    @property
    def words(self) -> list[str]:
        """The words of the exec form, or else of the text without its flags."""
        if self.text.startswith("["):
            words: list[str] = json.loads(self.text)
            return words
        return [word for word in shlex.split(self.text) if not word.startswith("--")]

    @property
    def flags(self) -> Mapping[str, str]:
        found = re.findall(r"^--([\w-]+)=(\S+)|\s--([\w-]+)=(\S+)", self.text)
        return {first or second: one or other for first, one, second, other in found}


def stages(path: Path) -> list[list[Instruction]]:
    """The instructions of each stage, FROM first; what stands before the first one is left out."""
    text = re.sub(r"^\s*#.*\n", "", path.read_text("utf-8"), flags=re.MULTILINE)
    lines = re.sub(r"\\\n\s*", "", text).splitlines()
    found: list[list[Instruction]] = []
    for line in filter(None, lines):
        name, _, rest = line.partition(" ")
        if name == "FROM":
            found.append([])
        if found:
            found[-1].append(Instruction(name, rest.strip()))
    return found


def unit(path: Path) -> dict[str, list[str]]:
    """The values of each key of a unit; no key of ours is in two sections."""
    values: dict[str, list[str]] = {}
    for line in path.read_text("utf-8").splitlines():
        key, is_setting, value = line.partition("=")
        if is_setting and not line.startswith("#"):
            values.setdefault(key, []).append(value)
    return values


def variables(path: Path) -> dict[str, str]:
    """The variables that an environment file sets."""
    return dict(re.findall(r"^([A-Z][A-Z_]+)=(.*)$", path.read_text("utf-8"), re.MULTILINE))


def suggested(path: Path) -> set[str]:
    """The names of all variables of an environment file, those too that are commented out."""
    return set(re.findall(r"^#?([A-Z][A-Z_]+)=", path.read_text("utf-8"), re.MULTILINE))


def seconds(text: str) -> float:
    """A time as compose and systemd write it, as in 90s or 90."""
    return float(text.removesuffix("s"))
