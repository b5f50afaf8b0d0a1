"""The pages list every metric and every event; that they are told, others prove."""

from tests.docs.pages import page, table
from windlass.observe.catalogue import METRICS, PREFIX
from windlass.observe.events import EVENTS

TELLERS = {"worker": "worker", "server": "server", "both": "worker, server"}


def test_every_metric_is_listed_as_it_is() -> None:
    rows = table(page("docs/reference/metrics.md"), "# Metrics")
    assert rows == [
        [
            f"`{PREFIX}{metric.name}`",
            metric.kind,
            ", ".join(f"`{label}`" for label in metric.labels),
            TELLERS[metric.told_by],
            metric.text,
        ]
        for metric in METRICS.values()
    ]


def test_every_event_is_listed() -> None:
    rows = table(page("docs/howto/observe.md"), "# Be told each step")
    assert [row[0] for row in rows] == [f"`{name}`" for name in EVENTS]
