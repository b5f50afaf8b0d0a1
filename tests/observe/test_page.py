"""The page of metrics says what the code says; that this is what is told, others prove."""

from tests.docs.pages import page, table
from windlass.observe.catalogue import METRICS, PREFIX

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
