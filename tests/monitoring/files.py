"""The alerts and dashboards of deploy/, as Prometheus and Grafana read them."""

import json
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import yaml

from tests.servers.binaries import binary

ROOT = Path(__file__).parents[2]
PROMETHEUS = ROOT / "deploy" / "prometheus"
GRAFANA = ROOT / "deploy" / "grafana"
CONFIG = PROMETHEUS / "prometheus.yml"
ALERTS = PROMETHEUS / "alerts.yml"
DASHBOARDS = sorted((GRAFANA / "dashboards").glob("*.json"))

_METRIC = re.compile(r"\bwindlass_[a-z_]+\b")
_PART = re.compile(r"_(bucket|count|sum)$")


class Query(NamedTuple):
    """One expression of a panel."""

    place: str
    expr: str
    is_instant: bool


def load(path: Path) -> Any:
    """What a JSON or YAML file says: the first is also the second."""
    return yaml.safe_load(path.read_text("utf-8"))


def alerts() -> list[dict[str, Any]]:
    return [rule for group in load(ALERTS)["groups"] for rule in group["rules"]]


def dashboard(path: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(path.read_text("utf-8"))
    return found


def panels(path: Path) -> list[dict[str, Any]]:
    """The panels of a dashboard that show something."""
    return [panel for panel in dashboard(path)["panels"] if panel["type"] != "row"]


def queries() -> Iterator[Query]:
    for path in DASHBOARDS:
        for panel in panels(path):
            for target in panel["targets"]:
                place = f"{path.stem}: {panel['title']} {target['refId']}"
                yield Query(place, target["expr"], target.get("instant", False))


def metrics(expr: str) -> set[str]:
    """The metrics of an expression, without what a histogram adds to their names."""
    return {_PART.sub("", name) for name in _METRIC.findall(expr)}


def promtool(*words: str | Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run([binary("promtool"), *words], capture_output=True, text=True)
