"""The text that Prometheus reads is what its own client library would write."""

from collections.abc import Iterable

from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.core import Metric as Family
from prometheus_client.registry import Collector

from windlass.observe.exposition import text
from windlass.observe.figures import Calls, Figures
from windlass.observe.ledger import Spread
from windlass.observe.prometheus import families, gauge


class Given(Collector):
    def __init__(self, families: Iterable[Family]) -> None:
        self._families = families

    def collect(self) -> Iterable[Family]:
        return self._families


def figures() -> Figures:
    made = Figures(slots=10, busy=3, late=2, missed=1, leads={"upkeep": True, "archive": False})
    for number, queue in enumerate(("mail", 'a "b"', "back\\slash", "two\nlines", "größe", "")):
        row = made.row((queue, f"task-{number}"))
        row.completed, row.dead, row.cancelled = 10**number, 999_999, 1_000_000
        row.enqueued = 1_234_567_890_123
        for seconds in (0.0, 0.004, 0.3, 2.0, 1e7):
            row.run.note(seconds)
    made.calls["claim"] = Calls(Spread(), 1)
    return made


def test_it_is_what_the_library_writes() -> None:
    odd = gauge("queue_age_seconds", [(["q"], value) for value in (-1.5, 1e-9, float("inf"))])
    made = [*families(figures()), odd]
    registry = CollectorRegistry(auto_describe=False)
    registry.register(Given(made))
    assert text(made).decode() == generate_latest(registry).decode()
