"""Dashboards and alerts ask for what is told, and leave none of it out."""

import re

import pytest

from tests.docs.pages import page
from tests.monitoring.files import ROOT, Query, alerts, metrics, queries
from windlass.observe.catalogue import METRICS, PREFIX

TOLD = {PREFIX + name: metric for name, metric in METRICS.items()}
LABELS = {label for metric in METRICS.values() for label in metric.labels}
ASKED = [
    *queries(),
    *(Query(alert["alert"], alert["expr"], True) for alert in alerts()),
]
EACH = pytest.mark.parametrize("asked", ASKED, ids=lambda asked: asked.place)


@EACH
def test_it_asks_for_metrics_that_are_told(asked: Query) -> None:
    found = metrics(asked.expr)
    assert found <= TOLD.keys()
    assert found or asked.place == "WindlassTargetDown"


@EACH
def test_it_asks_for_labels_that_they_have(asked: Query) -> None:
    labels = {label for name in metrics(asked.expr) for label in TOLD[name].labels}
    for inner in re.findall(r"\bby \(([\w, ]+)\)", asked.expr):
        assert set(inner.split(", ")) <= labels | {"le", "instance"}
    for matched in re.findall(r"\{([^}]*)\}", asked.expr):
        assert set(re.findall(r"(\w+)[!=]=?~?\"", matched)) <= labels | {"le", "job"}


def test_every_metric_can_be_seen_somewhere() -> None:
    assert set().union(*(metrics(asked.expr) for asked in queries())) == TOLD.keys()


def test_the_page_has_every_alert_in_order() -> None:
    text = page("docs/howto/monitor.md")
    assert re.findall(r"^### (Windlass\w+)$", text, re.MULTILINE) == [
        alert["alert"] for alert in alerts()
    ]


def test_every_file_that_the_page_names_is_there() -> None:
    named = set(re.findall(r"\b(?:deploy|scripts)/[\w./-]*\w", page("docs/howto/monitor.md")))
    assert len(named) > 6
    assert not [name for name in named - {"deploy/windlass-worker"} if not (ROOT / name).exists()]
