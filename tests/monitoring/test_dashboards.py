"""The dashboards are those that their panels say, and can be loaded anywhere."""

import re
import subprocess
import sys
from itertools import combinations
from pathlib import Path

import pytest

from tests.monitoring.files import DASHBOARDS, ROOT, dashboard, panels

EACH = pytest.mark.parametrize("path", DASHBOARDS, ids=lambda path: path.stem)
COLUMNS = 24
BUILT_IN = {"__rate_interval", "__range"}
"""Variables of Grafana itself."""


def test_they_are_the_ones_that_are_made_of_the_panels(tmp_path: Path) -> None:
    script = ROOT / "scripts" / "dashboards"
    subprocess.run([sys.executable, script, tmp_path], check=True)
    made = {path.name: path.read_text("utf-8") for path in tmp_path.iterdir()}
    there = {path.name: path.read_text("utf-8") for path in DASHBOARDS}
    assert made == there, "run scripts/dashboards"
    assert sorted(made) == ["overview.json", "tasks.json"]


def test_none_takes_the_place_of_another() -> None:
    for name in ("uid", "title"):
        assert len({dashboard(path)[name] for path in DASHBOARDS}) == len(DASHBOARDS)


@EACH
def test_its_panels_have_a_place_of_their_own(path: Path) -> None:
    shown = dashboard(path)["panels"]
    assert len({panel["id"] for panel in shown}) == len(shown)
    for one, other in combinations([panel["gridPos"] for panel in shown], 2):
        beside = one["x"] + one["w"] <= other["x"] or other["x"] + other["w"] <= one["x"]
        above = one["y"] + one["h"] <= other["y"] or other["y"] + other["h"] <= one["y"]
        assert beside or above
    assert max(panel["gridPos"]["x"] + panel["gridPos"]["w"] for panel in shown) == COLUMNS


@EACH
def test_its_panels_say_what_they_show(path: Path) -> None:
    for panel in panels(path):
        assert panel["title"] and panel["description"].endswith(".")
        assert panel["targets"]
        names = [target["legendFormat"] for target in panel["targets"]]
        assert all(names) and len(set(names)) == len(names)


@EACH
def test_its_source_is_whichever_is_chosen(path: Path) -> None:
    made = dashboard(path)
    first, *others = made["templating"]["list"]
    assert (first["type"], first["name"], first["query"]) == (
        "datasource",
        "datasource",
        "prometheus",
    )
    for each in (*others, *panels(path)):
        assert each["datasource"] == {"type": "prometheus", "uid": "${datasource}"}


@EACH
def test_it_can_be_narrowed_to_queues_and_tasks(path: Path) -> None:
    variables = {each["name"]: each for each in dashboard(path)["templating"]["list"]}
    assert "queue" in variables and ("task" in variables) == (path.stem == "tasks")
    for name in {"queue", "task"} & variables.keys():
        assert variables[name]["includeAll"] and variables[name]["multi"]
        assert f", {name})" in variables[name]["query"]["query"]


@EACH
def test_it_uses_no_variable_that_it_does_not_have(path: Path) -> None:
    variables = {each["name"] for each in dashboard(path)["templating"]["list"]}
    for panel in panels(path):
        for target in panel["targets"]:
            assert set(re.findall(r"\$(\w+)", target["expr"])) <= variables | BUILT_IN


@EACH
def test_what_is_of_a_queue_or_a_task_is_narrowed(path: Path) -> None:
    of_queues = re.compile(r"windlass_(?:jobs?|queue|limit)_?[a-z_]*(\{[^}]*\})?")
    for panel in panels(path):
        for target in panel["targets"]:
            for narrowed in of_queues.findall(target["expr"]):
                assert 'queue=~"$queue"' in narrowed, target["expr"]
